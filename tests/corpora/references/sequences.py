"""The cases of ``corpora/sources/sequences.py``, step by step."""

from __future__ import annotations

import numpy as np

from .register import logistic, reference


@reference("sequence/scan_totals_*")
def scan_totals(x, within, totals):
    tiles = x.reshape(len(totals), -1)
    return tiles.cumsum(axis=1).ravel(), tiles.sum(axis=1)


@reference("sequence/scan_carry_*")
def scan_carry(within, totals, y):
    before = np.concatenate([[0], np.cumsum(totals)[:-1]])
    return ((within.reshape(len(totals), -1) + before[:, None]).ravel(),)


@reference("sequence/linear_recurrence_*")
def linear_recurrence(a, b, h):
    state = np.zeros(len(a))
    for t in range(a.shape[1]):
        state = h[:, t] = a[:, t] * state + b[:, t]
    return (h,)


@reference("sequence/selective_scan_*")
def selective_scan(x, delta, a, b, c, skip, y):
    state = np.zeros_like(a)
    for t in range(len(x)):
        state = state * np.exp(delta[t][:, None] * a) + np.outer(delta[t] * x[t], b[t])
        y[t] = state @ c[t] + skip * x[t]
    return (y,)


@reference("sequence/rnn_*", 2.0**-8)
def rnn(x, w, u, bias, y):
    state = np.zeros_like(x[0])
    for t in range(len(x)):
        state = y[t] = np.tanh(x[t] @ w + state @ u + bias)
    return (y,)


@reference("sequence/lstm_step_*")
def lstm_step(gates, cell, hidden, next_cell):
    enter, forget, candidate, leave = np.split(gates, 4, axis=1)
    new = logistic(forget) * cell + logistic(enter) * np.tanh(candidate)
    return logistic(leave) * np.tanh(new), new


@reference("sequence/segmented_sum_*")
def segmented_sum(x, flags, y):
    total = np.zeros(len(x), np.int64)
    for t in range(x.shape[1]):
        total = y[:, t] = np.where(flags[:, t] != 0, 0, total) + x[:, t]
    return (y,)


@reference("sequence/running_maximum_*")
def running_maximum(x, y):
    return (np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1],)


@reference("sequence/discounted_returns_*")
def discounted_returns(rewards, y, discount):
    value = np.zeros(len(rewards))
    for t in reversed(range(rewards.shape[1])):
        value = y[:, t] = rewards[:, t] + discount * value
    return (y,)


@reference("sequence/compounded_*")
def compounded(x, y):
    return (np.exp(np.log1p(x).cumsum(axis=1)),)


@reference("sequence/edit_distance_*")
def edit_distance(a, b, y):
    """Wagner and Fischer's table, cell by cell; a row's last is the whole of both."""
    for i in range(len(a)):
        table = np.zeros((33, 33), np.int64)
        table[0], table[:, 0] = np.arange(33), np.arange(33)
        for r in range(32):
            for c in range(32):
                change = table[r, c] + (a[i, r] != b[i, c])
                table[r + 1, c + 1] = min(change, table[r, c + 1] + 1, table[r + 1, c] + 1)
        y[i] = table[32, 1:]
    return (y,)
