"""The cases of ``corpora/sources/norms.py``; gradients by the chain rule, written out as matrices."""

from __future__ import annotations

import numpy as np

from .register import reference


def _through_row_norm(x, upstream, epsilon, centre):
    """The gradient of x by the Jacobian of (x - mean) / sqrt(variance + epsilon), row by row."""
    count = x.shape[1]
    result = np.empty_like(x)
    shift = np.eye(count) - (1 / count if centre else 0)
    for row in range(len(x)):
        c = shift @ x[row]
        s = np.sqrt((c**2).mean() + epsilon)
        jacobian = (np.eye(count) / s - np.outer(c, c) / (count * s**3)) @ shift
        result[row] = jacobian.T @ upstream[row]
    return result


@reference("norm/layer_norm_backward_*")
def layer_norm_backward(x, weight, dy, dx, dweight, dbias, epsilon):
    c = x - x.mean(axis=1, keepdims=True)
    normal = c / np.sqrt(x.var(axis=1, keepdims=True) + epsilon)
    blocks = (len(dweight), -1, x.shape[1])
    return (
        _through_row_norm(x, dy * weight, epsilon, True),
        (dy * normal).reshape(blocks).sum(axis=1),
        dy.reshape(blocks).sum(axis=1),
    )


@reference("norm/rms_norm_backward_*")
def rms_norm_backward(x, weight, dy, dx, epsilon):
    return (_through_row_norm(x, dy * weight, epsilon, False),)


@reference("norm/add_rms_norm_*")
def add_rms_norm(x, residual, weight, y, updated, epsilon):
    total = x + residual
    return total / np.sqrt((total**2).mean(axis=1, keepdims=True) + epsilon) * weight, total


@reference("norm/batch_norm_f32")
def batch_norm(x, weight, bias, y, means, variances, epsilon):
    mean, variance = x.mean(axis=(0, 2)), x.var(axis=(0, 2))
    normal = (x - mean[:, None]) / np.sqrt(variance[:, None] + epsilon)
    return normal * weight[:, None] + bias[:, None], mean, variance


@reference("norm/batch_norm_backward_*")
def batch_norm_backward(x, dy, weight, means, variances, dx, dweight, dbias, epsilon):
    inverse = 1 / np.sqrt(variances + epsilon)
    normal = (x - means[:, None]) * inverse[:, None]
    dweight, dbias = (dy * normal).sum(axis=(0, 2)), dy.sum(axis=(0, 2))
    count = x.shape[0] * x.shape[2]
    rest = dy - dbias[:, None] / count - normal * dweight[:, None] / count
    return (weight * inverse)[:, None] * rest, dweight, dbias


@reference("norm/group_norm_*")
def group_norm(x, weight, bias, y, epsilon):
    n, c, s = x.shape
    groups = x.reshape(n, c // 4, 4 * s)
    normal = (groups - groups.mean(axis=2, keepdims=True)) / np.sqrt(
        groups.var(axis=2, keepdims=True) + epsilon
    )
    return (normal.reshape(x.shape) * weight[:, None] + bias[:, None],)


@reference("norm/welford_*")
def welford(x, means, variances):
    return x.mean(axis=1), x.var(axis=1)


@reference("norm/l2_normalise_*")
def l2_normalise(x, y, lengths):
    length = np.linalg.norm(x, axis=0)
    return x / length, length
