"""Machine code from the scalar graph, with loops over time: for programs that the virtual machine cannot pack.

A recurrence (a filter, an integrator, a simulation) does the same every so many nodes, in the order of creation. Here
that period is found, and becomes one loop forward and one backward (loop rerolling); what is outside of it becomes
straight-line code. In the order in which data passes:

``graph``      the program's graph in arrays, with operators of at most three operands
``periods``    where it repeats: its sections, straight or loops
``code``       a small SSA form with value numbering: what both passes are written in
``formulas``   rows of the op table in that form: values, domains, partials
``forward``, ``backward``   the two passes of a graph
``llvm_text``  the SSA form as LLVM IR
``pipeline``   a program from its graph to installed machine code
"""
