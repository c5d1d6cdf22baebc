"""Derivatives of functions: ``grad`` to ``hessian``, local derivatives, anomaly detection, and gradient checks."""
