"""Whether accesses to memory are ordered: by tokens within a block, by synchronisation across blocks.

The rules are those of the dialect's memory model (Tile IR specification, "Memory Model": tokens and token
order, moral strength, happens before, data races).
"""
