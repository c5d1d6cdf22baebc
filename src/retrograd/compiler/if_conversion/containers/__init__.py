"""Containers of which decisions choose how many items they have: heaps, deques, arrays, what generators give."""
