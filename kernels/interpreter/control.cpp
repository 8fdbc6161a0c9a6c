// Control flow (PTX ISA, "Control Flow Instructions").
#include <map>

#include "kernels/interpreter/builtin.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/launch.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

void branch(Warp& warp, const Instruction& in, Mask lanes) {
    warp.branch(in.target, in.reconverge, lanes);
}

/// `target` is the table, from[0] the index into it.
void indexed_branch(Warp& warp, const Instruction& in, Mask lanes) {
    const List& table = warp.frame().function->lists[static_cast<std::size_t>(in.target)];
    const Row& index = warp.source(in.from[0]);
    std::map<std::int32_t, Mask> places;
    each(lanes, [&](int l) {
        const auto at = static_cast<std::uint32_t>(index.lane[l]);
        if (at >= table.items.size())
            warp.fault(FaultCode::illegal_instruction, l,
                       "index " + std::to_string(at) + " of a table with " +
                           std::to_string(table.items.size()) + " targets");
        places[table.items[at]] |= Mask{1} << l;
    });
    if (places.empty()) return warp.advance();
    if (places.size() == 1 && lanes == warp.active())
        return warp.branch(places.begin()->first, in.reconverge, lanes);
    std::vector<std::pair<std::int32_t, Mask>> list(places.begin(), places.end());
    const auto next = static_cast<std::int32_t>(&in - warp.frame().function->code.data()) + 1;
    if (lanes != warp.active()) list.emplace_back(next, warp.active() & ~lanes);
    warp.scatter(list, in.reconverge);
}

void call(Warp& warp, const Instruction& in, Mask lanes) {
    const List& list = warp.frame().function->lists[static_cast<std::size_t>(in.target)];
    const Function& callee =
        *warp.launch().request.module->functions[static_cast<std::size_t>(list.items[0])];
    if (callee.defined) return warp.call(callee, list, lanes);
    if (lanes != 0) call_builtin(warp, callee, list, lanes);
    warp.advance();
}

void leave_function(Warp& warp, const Instruction&, Mask lanes) {
    warp.leave_function(lanes);
}

void leave_thread(Warp& warp, const Instruction&, Mask lanes) {
    warp.exit_lanes(lanes);
}

void trap(Warp& warp, const Instruction&, Mask lanes) {
    if (lanes != 0) warp.fault(FaultCode::launch_failure, __builtin_ctz(lanes), "the program traps");
    warp.advance();
}

void no_operation(Warp&, const Instruction&, Mask) {}

std::int32_t variable_of(Decoder& decoder, const Operand& operand) {
    if (operand.kind != OperandKind::symbol || !operand.in_function ||
        decoder.function().variables[static_cast<std::size_t>(operand.index)].space != Space::param)
        decoder.unsupported("expected a variable in .param, found " + found(operand.token));
    return operand.index;
}

/// call (results), function, (arguments);
void decode_call(Decoder& decoder) {
    decoder.take("uni");
    std::size_t i = 0;
    static const std::vector<Operand> kNone;
    const auto take_list = [&]() -> const std::vector<Operand>& {
        return i < decoder.count() && decoder.operand(i).kind == OperandKind::list
                   ? decoder.operand(i++).elements
                   : kNone;
    };
    const std::vector<Operand>& results = take_list();
    if (i >= decoder.count()) decoder.unsupported("expected a function");
    const Operand& name = decoder.operand(i++);
    const auto known = decoder.module().function_index.find(name.token.text);
    if (name.kind != OperandKind::name || known == decoder.module().function_index.end())
        decoder.unsupported("only calls of functions by name are known");
    const std::vector<Operand>& arguments = take_list();
    if (i != decoder.count()) decoder.unsupported("operands that are not known");
    const Function& callee = *decoder.module().functions[known->second];
    if (callee.entry || callee.results.size() != results.size() ||
        callee.parameters.size() != arguments.size())
        decoder.unsupported("the function has other parameters");
    List list;
    list.items = {static_cast<std::int32_t>(known->second), static_cast<std::int32_t>(results.size())};
    for (const Operand& operand : results)
        list.items.push_back(variable_of(decoder, operand));
    for (const Operand& operand : arguments)
        list.items.push_back(variable_of(decoder, operand));
    Instruction in = decoder.make(call);
    in.flow = true;
    in.target = decoder.add_list(std::move(list));
    decoder.emit(in);
}

void decode_branch(Decoder& decoder) {
    decoder.take("uni");
    decoder.expect(1, 1);
    const Operand& label = decoder.operand(0);
    if (label.kind != OperandKind::name) decoder.unsupported("expected a label, found " + found(label.token));
    Instruction in = decoder.make(branch);
    in.flow = true;
    in.target = decoder.label(label.token);
    decoder.emit(in);
}

void decode_indexed_branch(Decoder& decoder) {
    if (!decoder.take("idx")) decoder.unsupported("expected .idx");
    decoder.take("uni");
    decoder.expect(2, 2);
    Instruction in = decoder.make(indexed_branch);
    in.flow = true;
    in.from[0] = decoder.source(0, Type::u32);
    in.target = decoder.branch_table(decoder.operand(1).token);
    decoder.emit(in);
}

}  // namespace

Handler find_branch_handler() {
    return branch;
}
Handler find_indexed_branch_handler() {
    return indexed_branch;
}
bool is_end_of_lanes(const Instruction& in) {
    return in.handler == leave_function || in.handler == leave_thread || in.handler == trap;
}

void execute_unsupported(Warp& warp, const Instruction& in, Mask lanes) {
    warp.fault(FaultCode::illegal_instruction, __builtin_ctz(lanes),
               "not supported by the interpreter: " +
                   warp.frame().function->messages[static_cast<std::size_t>(in.target)]);
}

void decode_control(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "bra") return decode_branch(decoder);
    if (name == "brx") return decode_indexed_branch(decoder);
    if (name == "call") return decode_call(decoder);
    if (name == "nanosleep" || name == "pmevent") {
        if (name == "nanosleep" && decoder.take_type() != Type::u32) decoder.unsupported("not for this type");
        decoder.take("mask");
        decoder.expect(1, 1);
        return decoder.emit(decoder.make(no_operation));
    }
    if (name == "ret") decoder.take("uni");
    decoder.expect(0, 0);
    Instruction in = decoder.make(name == "ret" ? leave_function : name == "exit" ? leave_thread : trap);
    in.flow = true;
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
