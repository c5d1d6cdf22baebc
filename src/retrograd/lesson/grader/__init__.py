"""Examines a learner's Value class: expressions (what is computed), rules (what is asked), findings (what is told).

``grading`` names the rules in order; ``process`` runs them where nothing that the class does can do harm.
"""
