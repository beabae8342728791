from .cases import Cases

case = Cases("tilegym")


def cases():
    return case.all
