"""Scans over many tiles, recurrences and recurrent cells."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output


@ct.kernel
def scan_totals(x, within, totals, T: ct.Constant[int]):
    """First pass of a long scan: every tile on its own, and its total."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(T,))
    ct.store(within, index=(i,), tile=ct.cumsum(tile, axis=0))
    ct.store(totals, index=(i,), tile=ct.reshape(ct.sum(tile, axis=0), (1,)))


@ct.kernel
def scan_carry(within, totals, y, T: ct.Constant[int], B: ct.Constant[int]):
    """Second pass: each tile adds the totals of those before it."""
    i = ct.bid(0)
    number = ct.arange(B, dtype=ct.int32)
    before = ct.sum(ct.where(number < i, ct.load(totals, index=(0,), shape=(B,)), 0), axis=0)
    ct.store(y, index=(i,), tile=ct.load(within, index=(i,), shape=(T,)) + before)


def _follow(a, b, c, d):
    """Step a h + b and then c h + d: two steps of a linear recurrence as one."""
    return a * c, b * c + d


@ct.kernel
def linear_recurrence(a, b, h, T: ct.Constant[int]):
    """h[t] = a[t] h[t-1] + b[t] by a scan over pairs, from tile to tile."""
    i = ct.bid(0)
    state = ct.zeros((1, 1), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(1, T))):
        decay, add = ct.load(a, index=(i, k), shape=(1, T)), ct.load(b, index=(i, k), shape=(1, T))
        decays, sums = ct.scan((decay, add), 1, _follow, (1.0, 0.0))
        states = sums + decays * state
        ct.store(h, index=(i, k), tile=states)
        state = ct.extract(states, (0, T - 1), (1, 1))


@ct.kernel
def selective_scan(x, delta, a, b, c, skip, y, D: ct.Constant[int], S: ct.Constant[int]):
    """A state space model's recurrence, S states a channel, D channels a block, step after step."""
    i = ct.bid(0)
    rates = ct.load(a, index=(i, 0), shape=(D, S))
    keep = ct.reshape(ct.load(skip, index=(i,), shape=(D,)), (D, 1))
    state = ct.zeros((D, S), dtype=ct.float32)
    for t in range(x.shape[0]):
        u = ct.reshape(ct.load(x, index=(t, i), shape=(1, D)), (D, 1))
        step = ct.reshape(ct.load(delta, index=(t, i), shape=(1, D)), (D, 1))
        state = state * ct.exp(step * rates) + step * u * ct.load(b, index=(t, 0), shape=(1, S))
        out = ct.sum(state * ct.load(c, index=(t, 0), shape=(1, S)), axis=1, keepdims=True) + keep * u
        ct.store(y, index=(t, i), tile=ct.reshape(out, (1, D)))


@ct.kernel
def rnn(x, w, u, bias, y, R: ct.Constant[int], H: ct.Constant[int]):
    """State h = tanh(x w + h u + b) step by step; it stays in the block in f16 for the next product."""
    i = ct.bid(0)
    weights = ct.load(w, index=(0, 0), shape=(H, H))
    recurrent = ct.load(u, index=(0, 0), shape=(H, H))
    b = ct.astype(ct.reshape(ct.load(bias, index=(0,), shape=(H,)), (1, H)), ct.float32)
    state = ct.zeros((R, H), dtype=ct.float16)
    for t in range(x.shape[0]):
        inputs = ct.reshape(ct.load(x, index=(t, i, 0), shape=(1, R, H)), (R, H))
        acc = ct.mma(inputs, weights, ct.zeros((R, H), dtype=ct.float32))
        acc = ct.mma(state, recurrent, acc)
        state = ct.astype(ct.tanh(acc + b), ct.float16)
        ct.store(y, index=(t, i, 0), tile=ct.reshape(state, (1, R, H)))


@ct.kernel
def lstm_step(gates, cell, hidden, next_cell, R: ct.Constant[int], H: ct.Constant[int]):
    """The pointwise half of an LSTM: input, forget, candidate and output gates lie side by side."""
    i = ct.bid(0)
    enter = ct.load(gates, index=(i, 0), shape=(R, H))
    forget = ct.load(gates, index=(i, 1), shape=(R, H))
    candidate = ct.tanh(ct.load(gates, index=(i, 2), shape=(R, H)))
    leave = ct.load(gates, index=(i, 3), shape=(R, H))
    old = ct.load(cell, index=(i, 0), shape=(R, H))
    new = old / (1.0 + ct.exp(-forget)) + candidate / (1.0 + ct.exp(-enter))
    ct.store(next_cell, index=(i, 0), tile=new)
    ct.store(hidden, index=(i, 0), tile=ct.tanh(new) / (1.0 + ct.exp(-leave)))


def _restart(sum_a, flag_a, sum_b, flag_b):
    """Sums that begin anew where a flag is set."""
    return ct.where(flag_b != 0, sum_b, sum_a + sum_b), flag_a | flag_b


@ct.kernel
def segmented_sum(x, flags, y, T: ct.Constant[int]):
    i = ct.bid(0)
    row, starts = ct.load(x, index=(i, 0), shape=(1, T)), ct.load(flags, index=(i, 0), shape=(1, T))
    sums, _ = ct.scan((row, starts), 1, _restart, (0, 0))
    ct.store(y, index=(i, 0), tile=sums)


def _larger(a, b):
    return ct.maximum(a, b)


@ct.kernel
def running_maximum(x, y, T: ct.Constant[int]):
    """The water level from the right: the largest of all that follow, as a reversed scan."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    ct.store(y, index=(i, 0), tile=ct.scan(row, 1, _larger, -1.0e30, reverse=True))


@ct.kernel
def discounted_returns(rewards, y, discount, T: ct.Constant[int]):
    """What each step is worth: its reward and the discounted rest, by a scan from the end."""
    i = ct.bid(0)
    reward = ct.load(rewards, index=(i, 0), shape=(1, T))
    rate = ct.zeros((1, T), dtype=ct.float64) + ct.astype(discount, ct.float64)
    _, value = ct.scan((rate, reward), 1, _follow, (1.0, 0.0), reverse=True)
    ct.store(y, index=(i, 0), tile=value)


@ct.kernel
def compounded(x, y, T: ct.Constant[int]):
    """Growth of capital: the running product of one plus the rates."""
    i = ct.bid(0)
    ct.store(y, index=(i, 0), tile=ct.cumprod(1.0 + ct.load(x, index=(i, 0), shape=(1, T)), axis=1))


@ct.kernel
def edit_distance(a, b, y, N: ct.Constant[int]):
    """Levenshtein's table by rows, where a row follows from the one before by a running minimum.

    With its place subtracted, an insertion costs nothing, and the least of all that lead here is a scan.
    """
    i = ct.bid(0)
    place = ct.arange(N, dtype=ct.int32)
    row = place + 1
    other = ct.reshape(ct.load(b, index=(i, 0), shape=(1, N)), (N,))
    for k in range(N):
        letter = ct.load(a, index=(i, k), shape=())
        ct.scatter(y, (i, place), row)
        left = ct.where(place == 0, k, ct.gather(y, (i, place - 1)))
        changed = left + ct.where(other == letter, 0, 1)
        best = ct.minimum(changed, row + 1)
        best = ct.minimum(best, ct.where(place == 0, k + 2, best))
        row = ct.scan(best - place, 0, _smaller, 1 << 30) + place
    ct.scatter(y, (i, place), row)


def _smaller(a, b):
    return ct.minimum(a, b)


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "sequence/scan_totals_i32"
    parts = [integers("i32", name, (1024,), -1000, 1000), output("i32", (1024,)), output("i32", (8,))]
    yield Draft(name, scan_totals, (8,), [*parts, 128])
    name = "sequence/scan_carry_i32"
    parts = [integers("i32", name, (1024,), -1000, 1000), integers("i32", name + "t", (8,), -9000, 9000)]
    yield Draft(name, scan_carry, (8,), [*parts, output("i32", (1024,)), 128, 8])
    name = "sequence/linear_recurrence_f32"
    parts = [moderate("f32", name + "a", (4, 256), low=-3, high=-1), moderate("f32", name + "b", (4, 256))]
    yield Draft(name, linear_recurrence, (4,), [*parts, output("f32", (4, 256)), 64])
    name = "sequence/selective_scan_f32"
    parts = [moderate("f32", name + "x", (24, 32), high=0)]
    parts += [moderate("f32", name + "d", (24, 32), low=-4, high=-2, positive=True)]
    rates = [f"{0xBF800000 + (k % 8 << 20):x}" for k in range(256)]
    parts += [Array("f32", (32, 8), {"kind": "explicit", "bits": rates})]
    parts += [moderate("f32", name + part, (24, 8), high=0) for part in "bc"]
    parts += [moderate("f32", name + "s", (32,), high=0), output("f32", (24, 32))]
    yield Draft(name, selective_scan, (2,), [*parts, 16, 8])
    name = "sequence/rnn_f16"
    parts = [
        moderate("f16", name + "x", (6, 32, 32), high=-1),
        moderate("f16", name + "w", (32, 32), high=-2),
    ]
    parts += [moderate("f16", name + "u", (32, 32), high=-2), moderate("f16", name + "b", (32,), high=-1)]
    yield Draft(name, rnn, (2,), [*parts, output("f16", (6, 32, 32)), 16, 32])
    name = "sequence/lstm_step_f32"
    parts = [moderate("f32", name + "g", (16, 128), high=1), moderate("f32", name + "c", (16, 32), high=0)]
    yield Draft(name, lstm_step, (4,), [*parts, output("f32", (16, 32)), output("f32", (16, 32)), 4, 32])
    name = "sequence/segmented_sum_i32"
    starts = [f"{int(k % 11 == 3 or k % 29 == 0):x}" for k in range(512)]
    flags = Array("i32", (4, 128), {"kind": "explicit", "bits": starts})
    parts = [integers("i32", name, (4, 128), -1000, 1000), flags, output("i32", (4, 128))]
    yield Draft(name, segmented_sum, (4,), [*parts, 128])
    name = "sequence/running_maximum_f32"
    yield Draft(name, running_maximum, (4,), [moderate("f32", name, (4, 128)), output("f32", (4, 128)), 128])
    name = "sequence/discounted_returns_f64"
    parts = [moderate("f64", name, (4, 64)), output("f64", (4, 64)), Number("f32", 0.875)]
    yield Draft(name, discounted_returns, (4,), [*parts, 64])
    name = "sequence/compounded_f64"
    parts = [moderate("f64", name, (4, 128), low=-7, high=-5), output("f64", (4, 128))]
    yield Draft(name, compounded, (4,), [*parts, 128])
    name = "sequence/edit_distance_i32"
    parts = [integers("i32", name + part, (4, 32), 0, 4) for part in "ab"]
    yield Draft(name, edit_distance, (4,), [*parts, output("i32", (4, 32)), 32])
