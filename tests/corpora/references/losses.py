"""The cases of ``corpora/sources/losses.py``."""

from __future__ import annotations

import numpy as np

from .register import logistic, reference, softmax


@reference("loss/cross_entropy_backward_*")
def cross_entropy_backward(x, labels, dx, smoothing):
    wanted = np.eye(x.shape[1])[labels] * (1 - smoothing) + smoothing / x.shape[1]
    return (np.where(labels[:, None] < 0, 0, softmax(x) - wanted),)


@reference("loss/chunked_cross_entropy_*")
def chunked_cross_entropy(x, labels, loss, logsums):
    logsum = np.log(np.exp(x).sum(axis=1))
    return logsum - x[np.arange(len(x)), labels], logsum


@reference("loss/divergence_*")
def divergence(p_logits, q_logits, loss, temperature):
    p, q = softmax(p_logits / temperature), softmax(q_logits / temperature)
    return ((p * np.log(p / q)).sum(axis=1) * temperature**2,)


@reference("loss/focal_*")
def focal(x, labels, loss, gamma, alpha):
    p = np.where(labels == 1, logistic(x), logistic(-x))
    return (-np.where(labels == 1, alpha, 1 - alpha) * (1 - p) ** gamma * np.log(p),)


@reference("loss/huber_*")
def huber(x, target, loss, grad, delta):
    error = x - target
    cut = np.clip(error, -delta, delta)
    return cut * (error - cut / 2), cut


@reference("loss/mean_squared_*")
def mean_squared(x, target, partials):
    squares = np.zeros(8 * 128)
    squares[: len(x)] = (x - target) ** 2
    tiles = squares.reshape(8, 128)
    return (np.array([tiles[b::3].sum() for b in range(3)]) / len(x),)


@reference("loss/cosine_similarity_*")
def cosine_similarity(x, y, out):
    return ((x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1),)


@reference("loss/contrastive_*")
def contrastive(x, y, loss, scale):
    return (-np.log(np.diag(softmax(x @ y.T * scale))),)


@reference("loss/margin_ranking_*")
def margin_ranking(x, labels, loss, margin):
    rows = np.arange(len(x))
    over = np.maximum(x - x[rows, labels][:, None] + margin, 0)
    over[rows, labels] = 0
    return (over.max(axis=1),)
