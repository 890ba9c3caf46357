"""Operations are copied on demand, from the loads' operands; the slot to write follows from the slot to read."""


def needed_inside(load, loop):
    found = set()

    def visit(value):
        if value not in found and is_inside(value, loop):
            found.add(value)
            for source in sources_of(value):
                visit(source)

    for operand in load.operands:
        visit(operand)
    return found


def runs_ahead(load, loop):
    if any(may_change_memory(operation) for operation in loop.regions[0].block.operations):
        return False
    for value in needed_inside(load, loop):
        if isinstance(value, OpResult):
            operation = value.owner
            if operation not in load.parent.operations or not traits(operation).pure:
                return False
    return True


class Pipeline:
    def run(self):
        loop, body, count = self.loop, self.body, self.stages
        for load in self.loads:
            self.rings[load] = self.emit(loop, "ttg.local_alloc", result=RingType(count, load.result.type)).result
        begin = body.operations[0]
        place = self.wait_for_products() if self.late else begin
        counter, *arguments = body.arguments
        state = {counter: loop.operands[0]}
        for argument, start in zip(arguments, loop.operands[3:], strict=True):
            if argument in self.carried:
                state[argument] = start
        for slot in range(count - 1):
            state = self.copies(loop, state, self.number(slot))
        initial = [self.number(0), *state.values()]
        read = body.add_argument(I32)
        ahead = {value: body.add_argument(value.type) for value in state}
        self.emit(begin, "ttg.async_wait", num=count - 2)
        is_first = self.emit(begin, "arith.cmpi", read, self.number(0), predicate="eq").result
        before = self.emit(begin, "arith.subi", read, self.number(1)).result
        write = self.emit(begin, "arith.select", is_first, self.number(count - 1), before).result
        following = self.copies(place, ahead, write)
        tiles = [self.emit(begin, "ttg.local_load", self.rings[load], read) for load in self.loads]
        for load, tile in zip(self.loads, tiles, strict=True):
            replace_by(load, tile.results)
        self.carry(initial, [self.following(read), *(following[value] for value in ahead)])

    def copies(self, place, state, slot):
        known = dict(state)

        def early(value):
            if value not in known and is_inside(value, self.loop):
                for operand in value.owner.operands:
                    early(operand)
                insert(copy(value.owner, known), place)
            return known.get(value, value)

        counter = self.body.arguments[0]
        exists = self.emit(place, "arith.cmpi", self.loop.operands[1], state[counter], predicate="sgt").result
        for load in self.loads:
            pointers, mask = early(load.operands[0]), operand_of(load, "mask")
            everywhere = self.emit(place, "tt.splat", exists, result=with_element(pointers.type, I1)).result
            inside = self.emit(place, "arith.andi", early(mask), everywhere).result if mask else everywhere
            self.emit(place, "ttg.async_copy_global_to_local", pointers, self.rings[load], slot, inside)
        self.emit(place, "ttg.async_commit_group")
        yielded = terminator(self.body).operands
        step = self.emit(place, "arith.addi", self.loop.operands[2], state[counter]).result
        result = {counter: self.emit(place, "arith.select", exists, step, state[counter]).result}
        for argument in self.carried:
            result[argument] = early(yielded[self.body.arguments.index(argument) - 1])
        return result

    def only_sums(self, product: Operation, after_wait: bool) -> bool:
        yielded = terminator(self.body)
        places = [place for place, value in enumerate(yielded.operands) if value is product.result]
        if [user for user, _ in product.result.uses] != [yielded]:
            return False
        value = self.body.arguments[1 + places[0]]
        scaled = after_wait and len(value.uses) == 1 and traits(value.uses[0][0]).elementwise
        if scaled and len(value.uses[0][0].results) == 1:
            value = value.uses[0][0].results[0]
        is_added = len(value.uses) == 1 and value is product.operands[2] and value.uses[0][0] is product
        return is_added and any(load.results[0] is product.operands[1] for load in self.loads)

    def wait_for_products(self) -> Operation:
        last = self.body.operations[-1]
        count = 0
        for operation in self.body.operations:
            if operation in self.late:
                operation.attributes |= {"ttng.isAsync": True}
                count += 1
        for name, attributes in (("ttng.warp_group_dot_wait", {"pendings": count}), ("gpu.barrier", {})):
            insert(create(name, loc=last.loc, **attributes), last)
        return last
