"""Loop fusion of the kernel calls of one strip. It knows kernel calls and what memory they access, and emits loops."""
