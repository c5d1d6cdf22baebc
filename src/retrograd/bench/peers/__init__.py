"""The programs that ``retrograd bench`` measures, ours and those it is compared with, each small enough to read."""
