"""The programs that ``make bench`` measures, ours and those it is compared with, each small enough to read."""
