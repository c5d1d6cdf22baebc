"""Training: tasks, runs that can be resumed, checkpoints, logs, data, and several devices."""

from .log import LOG, Progress, log_line, read_log
from .runs import (
    SAVE_EVERY,
    clear_run,
    load_gpt,
    load_moons,
    one_step,
    open_run,
    refuse_taken,
    run_exists,
    save_run,
    saved_settings,
    train_gpt,
    train_moons,
)
from .sampling import sample, sampling_tokens
from .tasks import GPTSettings, MoonsSettings, Task, gpt_task, moons_task

__all__ = [
    "LOG",
    "SAVE_EVERY",
    "GPTSettings",
    "MoonsSettings",
    "Progress",
    "Task",
    "clear_run",
    "gpt_task",
    "load_gpt",
    "load_moons",
    "log_line",
    "moons_task",
    "one_step",
    "open_run",
    "read_log",
    "refuse_taken",
    "run_exists",
    "sample",
    "sampling_tokens",
    "save_run",
    "saved_settings",
    "train_gpt",
    "train_moons",
]
