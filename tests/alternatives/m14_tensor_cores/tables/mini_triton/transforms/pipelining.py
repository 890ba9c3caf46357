class Pipeline:
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
