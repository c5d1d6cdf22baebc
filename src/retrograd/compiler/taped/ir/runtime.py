"""What taped code calls: memory for lists, and ints as Python has them.

A list is a header of four words: how many items it has, for how many there is room (less than 0: nothing may change
it), where they are, and how often it has changed. Where no memory is left, the end of the memory in the context becomes
0, and the function is left.
"""

from __future__ import annotations

from .context import word
from .rows import DECLARATIONS
from .tape import ON_TAPE

__all__ = ["RUNTIME"]


RUNTIME = f"""
{DECLARATIONS}
{ON_TAPE}
declare {{i64, i1}} @llvm.sadd.with.overflow.i64(i64, i64)
declare {{i64, i1}} @llvm.ssub.with.overflow.i64(i64, i64)
declare {{i64, i1}} @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i1 @is_out_of_fuel(ptr %c) alwaysinline {{
  {word("fuel", "at")}
  %left = load i64, ptr %at, align 8
  %less = sub i64 %left, 1
  store i64 %less, ptr %at, align 8
  %none = icmp slt i64 %less, 0
  ret i1 %none
}}

define internal i1 @is_too_deep(ptr %c) alwaysinline {{
  {word("depth", "at")}
  %left = load i64, ptr %at, align 8
  %less = sub i64 %left, 1
  store i64 %less, ptr %at, align 8
  %none = icmp slt i64 %less, 0
  {word("stack", "stack.at")}
  %end = load i64, ptr %stack.at, align 8
  %here = alloca i64, align 8
  %place = ptrtoint ptr %here to i64
  %low = icmp ult i64 %place, %end
  %deep = or i1 %none, %low
  ret i1 %deep
}}

define internal void @is_back(ptr %c) alwaysinline {{
  {word("depth", "at")}
  %left = load i64, ptr %at, align 8
  %more = add i64 %left, 1
  store i64 %more, ptr %at, align 8
  ret void
}}

define internal i64 @int.mod(i64 %a, i64 %b) alwaysinline {{
  %r = srem i64 %a, %b
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %apart = icmp slt i64 %signs, 0
  %moves = and i1 %some, %apart
  %moved = add i64 %r, %b
  %found = select i1 %moves, i64 %moved, i64 %r
  ret i64 %found
}}
define internal i64 @int.floordiv(i64 %a, i64 %b) alwaysinline {{
  %q = sdiv i64 %a, %b
  %r = srem i64 %a, %b
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %apart = icmp slt i64 %signs, 0
  %moves = and i1 %some, %apart
  %less = sub i64 %q, 1
  %found = select i1 %moves, i64 %less, i64 %q
  ret i64 %found
}}

define internal ptr @allocate(ptr %c, i64 %words) {{
  {word("free", "free.at")}
  {word("end", "end.at")}
  %place = load ptr, ptr %free.at, align 8
  %start = ptrtoint ptr %place to i64
  %end = load i64, ptr %end.at, align 8
  %room = sub i64 %end, %start
  %bytes = shl i64 %words, 3
  %fits = icmp sle i64 %bytes, %room
  %sane = icmp ult i64 %words, 1073741824
  %good = and i1 %fits, %sane
  br i1 %good, label %yes, label %no
yes:
  %next = getelementptr i64, ptr %place, i64 %words
  store ptr %next, ptr %free.at, align 8
  ret ptr %place
no:
  store i64 0, ptr %end.at, align 8
  ret ptr null
}}

define internal ptr @new_list(ptr %c, i64 %given, i64 %words) {{
  %negative = icmp slt i64 %given, 0
  %count = select i1 %negative, i64 0, i64 %given
  %sane = icmp ult i64 %count, 1073741824
  %some = select i1 %sane, i64 %count, i64 1073741824
  %size = mul i64 %some, %words
  %all = add i64 %size, 5
  %list = call ptr @allocate(ptr %c, i64 %all)
  %lacks = icmp eq ptr %list, null
  br i1 %lacks, label %no, label %yes
yes:
  store i64 %count, ptr %list, align 8
  %room.at = getelementptr i64, ptr %list, i64 1
  store i64 %count, ptr %room.at, align 8
  %data.at = getelementptr i64, ptr %list, i64 2
  %data = getelementptr i64, ptr %list, i64 5
  store ptr %data, ptr %data.at, align 8
  %changes.at = getelementptr i64, ptr %list, i64 3
  store i64 0, ptr %changes.at, align 8
  %most.at = getelementptr i64, ptr %list, i64 4
  store i64 0, ptr %most.at, align 8
  ret ptr %list
no:
  ret ptr null
}}

define internal ptr @appended(ptr %c, ptr %list, i64 %words) {{
  %count = load i64, ptr %list, align 8
  %room.at = getelementptr i64, ptr %list, i64 1
  %room = load i64, ptr %room.at, align 8
  %data.at = getelementptr i64, ptr %list, i64 2
  %is_full = icmp sge i64 %count, %room
  br i1 %is_full, label %full, label %put
full:
  %twice = shl i64 %count, 1
  %more = add i64 %twice, 4
  %size = mul i64 %more, %words
  %other = call ptr @allocate(ptr %c, i64 %size)
  %lacks = icmp eq ptr %other, null
  br i1 %lacks, label %no, label %moves
moves:
  %old = load ptr, ptr %data.at, align 8
  %used = mul i64 %count, %words
  %bytes = shl i64 %used, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %other, ptr %old, i64 %bytes, i1 false)
  store ptr %other, ptr %data.at, align 8
  store i64 %more, ptr %room.at, align 8
  br label %put
put:
  %data = load ptr, ptr %data.at, align 8
  %offset = mul i64 %count, %words
  %place = getelementptr i64, ptr %data, i64 %offset
  %next = add i64 %count, 1
  store i64 %next, ptr %list, align 8
  ret ptr %place
no:
  ret ptr null
}}

define internal ptr @inserted(ptr %c, ptr %list, i64 %at, i64 %words) {{
  %last = call ptr @appended(ptr %c, ptr %list, i64 %words)
  %lacks = icmp eq ptr %last, null
  br i1 %lacks, label %no, label %yes
yes:
  %data.at = getelementptr i64, ptr %list, i64 2
  %data = load ptr, ptr %data.at, align 8
  %offset = mul i64 %at, %words
  %place = getelementptr i64, ptr %data, i64 %offset
  %behind = getelementptr i64, ptr %place, i64 %words
  %from = ptrtoint ptr %place to i64
  %to = ptrtoint ptr %last to i64
  %bytes = sub i64 %to, %from
  call void @llvm.memmove.p0.p0.i64(ptr %behind, ptr %place, i64 %bytes, i1 false)
  ret ptr %place
no:
  ret ptr null
}}

define internal void @removed(ptr %list, i64 %at, i64 %words) {{
  %count = load i64, ptr %list, align 8
  %less = sub i64 %count, 1
  store i64 %less, ptr %list, align 8
  %data.at = getelementptr i64, ptr %list, i64 2
  %data = load ptr, ptr %data.at, align 8
  %is_first = icmp eq i64 %at, 0
  %are_many = icmp sgt i64 %count, 16
  %is_queue = and i1 %is_first, %are_many
  br i1 %is_queue, label %skip, label %move
skip:
  %second = getelementptr i64, ptr %data, i64 %words
  store ptr %second, ptr %data.at, align 8
  %room.at = getelementptr i64, ptr %list, i64 1
  %room = load i64, ptr %room.at, align 8
  %left = sub i64 %room, 1
  store i64 %left, ptr %room.at, align 8
  ret void
move:
  %offset = mul i64 %at, %words
  %place = getelementptr i64, ptr %data, i64 %offset
  %behind = getelementptr i64, ptr %place, i64 %words
  %rest = sub i64 %less, %at
  %moved = mul i64 %rest, %words
  %bytes = shl i64 %moved, 3
  call void @llvm.memmove.p0.p0.i64(ptr %place, ptr %behind, i64 %bytes, i1 false)
  ret void
}}

define internal i64 @hashed(i64 %so.far, i64 %bits) alwaysinline {{
  %both = xor i64 %so.far, %bits
  %times = mul i64 %both, -7046029254386353131
  %high = lshr i64 %times, 32
  %mixed = xor i64 %times, %high
  %again = mul i64 %mixed, -7046029254386353131
  %higher = lshr i64 %again, 29
  %found = xor i64 %again, %higher
  ret i64 %found
}}

define internal ptr @index_of(ptr %c, ptr %list, i64 %count) {{
  %at = getelementptr i64, ptr %list, i64 4
  %known = load ptr, ptr %at, align 8
  %none = icmp eq ptr %known, null
  br i1 %none, label %new, label %look
look:
  %mask = load i64, ptr %known, align 8
  %twice = shl i64 %count, 1
  %fits = icmp sle i64 %twice, %mask
  br i1 %fits, label %old, label %new
old:
  ret ptr %known
new:
  %wanted = shl i64 %count, 2
  %less = sub i64 %wanted, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %bits = sub i64 64, %zeros
  %size = shl i64 1, %bits
  %words = add i64 %size, 2
  %made = call ptr @allocate(ptr %c, i64 %words)
  %lacks = icmp eq ptr %made, null
  br i1 %lacks, label %no, label %yes
yes:
  %bytes = shl i64 %words, 3
  call void @llvm.memset.p0.i64(ptr %made, i8 0, i64 %bytes, i1 false)
  %all = sub i64 %size, 1
  store i64 %all, ptr %made, align 8
  store ptr %made, ptr %at, align 8
  ret ptr %made
no:
  ret ptr null
}}
declare i64 @llvm.ctlz.i64(i64, i1)

define internal void @index_put(ptr %table, i64 %hash, i64 %item) {{
entry:
  %mask = load i64, ptr %table, align 8
  %slots = getelementptr i64, ptr %table, i64 2
  br label %look
look:
  %now = phi i64 [ %hash, %entry ], [ %next, %taken ]
  %slot = and i64 %now, %mask
  %at = getelementptr i64, ptr %slots, i64 %slot
  %there = load i64, ptr %at, align 8
  %free = icmp eq i64 %there, 0
  br i1 %free, label %put, label %taken
taken:
  %next = add i64 %slot, 1
  br label %look
put:
  %number = add i64 %item, 1
  store i64 %number, ptr %at, align 8
  ret void
}}

define internal i64 @index_at(ptr %table, ptr %place) {{
  %mask = load i64, ptr %table, align 8
  %slots = getelementptr i64, ptr %table, i64 2
  %now = load i64, ptr %place, align 8
  %slot = and i64 %now, %mask
  %at = getelementptr i64, ptr %slots, i64 %slot
  %there = load i64, ptr %at, align 8
  %next = add i64 %slot, 1
  store i64 %next, ptr %place, align 8
  %item = sub i64 %there, 1
  ret i64 %item
}}

define internal ptr @slice(ptr %c, ptr %list, i64 %from, i64 %to, i64 %words) {{
  %all = load i64, ptr %list, align 8
  %from.below = icmp slt i64 %from, 0
  %from.moved = add i64 %from, %all
  %from.end = select i1 %from.below, i64 %from.moved, i64 %from
  %start.low = call i64 @llvm.smax.i64(i64 %from.end, i64 0)
  %start = call i64 @llvm.smin.i64(i64 %start.low, i64 %all)
  %to.below = icmp slt i64 %to, 0
  %to.moved = add i64 %to, %all
  %to.end = select i1 %to.below, i64 %to.moved, i64 %to
  %stop.low = call i64 @llvm.smax.i64(i64 %to.end, i64 %start)
  %stop = call i64 @llvm.smin.i64(i64 %stop.low, i64 %all)
  %count = sub i64 %stop, %start
  %made = call ptr @new_list(ptr %c, i64 %count, i64 %words)
  %lacks = icmp eq ptr %made, null
  br i1 %lacks, label %end, label %yes
yes:
  call void @copy_items(ptr %made, i64 0, ptr %list, i64 %start, i64 %count, i64 %words)
  br label %end
end:
  ret ptr %made
}}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

define internal void @copy_items(ptr %to, i64 %at, ptr %from, i64 %start, i64 %count, i64 %words) {{
  %to.at = getelementptr i64, ptr %to, i64 2
  %to.data = load ptr, ptr %to.at, align 8
  %from.at = getelementptr i64, ptr %from, i64 2
  %from.data = load ptr, ptr %from.at, align 8
  %to.offset = mul i64 %at, %words
  %from.offset = mul i64 %start, %words
  %target = getelementptr i64, ptr %to.data, i64 %to.offset
  %source = getelementptr i64, ptr %from.data, i64 %from.offset
  %size = mul i64 %count, %words
  %bytes = shl i64 %size, 3
  call void @llvm.memmove.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  ret void
}}

define internal ptr @concatenated(ptr %c, ptr %one, ptr %other, i64 %words) {{
  %first = load i64, ptr %one, align 8
  %second = load i64, ptr %other, align 8
  %count = add i64 %first, %second
  %made = call ptr @new_list(ptr %c, i64 %count, i64 %words)
  %lacks = icmp eq ptr %made, null
  br i1 %lacks, label %end, label %yes
yes:
  call void @copy_items(ptr %made, i64 0, ptr %one, i64 0, i64 %first, i64 %words)
  call void @copy_items(ptr %made, i64 %first, ptr %other, i64 0, i64 %second, i64 %words)
  br label %end
end:
  ret ptr %made
}}

define internal ptr @repeated(ptr %c, ptr %one, i64 %given, i64 %words) {{
entry:
  %times = call i64 @llvm.smax.i64(i64 %given, i64 0)
  %few = call i64 @llvm.smin.i64(i64 %times, i64 1073741824)
  %each = load i64, ptr %one, align 8
  %count = mul i64 %few, %each
  %made = call ptr @new_list(ptr %c, i64 %count, i64 %words)
  %lacks = icmp eq ptr %made, null
  br i1 %lacks, label %end, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %copy ]
  %done = icmp sge i64 %i, %few
  br i1 %done, label %end, label %copy
copy:
  %at = mul i64 %i, %each
  call void @copy_items(ptr %made, i64 %at, ptr %one, i64 0, i64 %each, i64 %words)
  %next = add i64 %i, 1
  br label %loop
end:
  ret ptr %made
}}

attributes #0 = {{ nounwind willreturn memory(none) }}
!0 = !{{!"branch_weights", i32 1, i32 1000}}
"""
