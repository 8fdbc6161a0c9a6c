#include <algorithm>
#include <cstring>

#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::uint32_t kMostRows = 1U << 16;

/// A floating-point constant as bits of `type`; constants are written as singles or doubles.
std::uint64_t floating_bits(const Token& token, Type type) {
    double value = 0;
    if (token.kind == TokenKind::single) {
        if (type == Type::f32) return token.value;
        const auto bits = static_cast<std::uint32_t>(token.value);
        float single = 0;
        std::memcpy(&single, &bits, sizeof single);
        value = static_cast<double>(single);
    } else {
        if (type == Type::f64) return token.value;
        std::memcpy(&value, &token.value, sizeof value);
    }
    if (type == Type::f64) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    const auto single = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    return bits;
}

std::string shown(const Operand& operand) {
    return found(operand.token);
}

}  // namespace

void Decoder::begin(const Statement& statement) {
    statement_ = &statement;
    next_ = 0;
}

void Decoder::end() const {
    if (!at_end()) unsupported("unknown modifier ." + std::string(statement_->modifiers[next_]));
}

void Decoder::unsupported(const std::string& why) const {
    throw Unsupported(std::string(statement_->opcode.text) + ": " + why);
}

void Decoder::need_target(unsigned least) const {
    if (module_.target < least)
        unsupported("needs sm_" + std::to_string(least) + ", the module is for sm_" +
                    std::to_string(module_.target));
}

void Decoder::need_specific_target(unsigned target) const {
    if (module_.target == target && module_.variant == 'a') return;
    unsupported("needs sm_" + std::to_string(target) + "a, the module is for sm_" +
                std::to_string(module_.target) +
                (module_.variant == 0 ? std::string() : std::string(1, module_.variant)));
}

bool Decoder::take(std::string_view word) {
    if (at_end() || statement_->modifiers[next_] != word) return false;
    ++next_;
    return true;
}

int Decoder::take_one_of(std::initializer_list<std::string_view> words) {
    int index = 0;
    for (const std::string_view word : words) {
        if (take(word)) return index;
        ++index;
    }
    return -1;
}

std::string_view Decoder::take_word(const char* what) {
    if (at_end()) unsupported(std::string("expected ") + what);
    return statement_->modifiers[next_++];
}

Type Decoder::take_type() {
    const std::string_view name = take_word("a type");
    const auto type = parse_type(name);
    if (!type) unsupported("expected a type, found ." + std::string(name));
    return *type;
}

Space Decoder::take_space() {
    if (at_end()) return Space::generic;
    const auto space = parse_space(statement_->modifiers[next_]);
    if (!space) return Space::generic;
    ++next_;
    return *space;
}

Space Decoder::take_shared_space() {
    const Space space = take_space();
    if (space != Space::generic && space != Space::shared) unsupported("not in this state space");
    return space;
}

void Decoder::take_aligned() {
    if (!take("sync") || !take("aligned")) unsupported("expected .sync.aligned");
}

void Decoder::expect(std::size_t least, std::size_t most) const {
    if (count() >= least && count() <= most) return;
    unsupported("expected " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") +
                " operands, found " + std::to_string(count()));
}

void Decoder::emit(Instruction in, std::size_t sources, Type type, Type last) {
    expect(sources + 1, sources + 1);
    in.to = destination(0);
    for (std::size_t i = 0; i < 3; ++i)
        in.from[i] = i < sources ? source(i + 1, i == 2 ? last : type) : in.from[0];
    emit(in);
}

Instruction Decoder::make(Handler handler) const {
    Instruction in;
    in.handler = handler;
    in.line = statement_->opcode.line;
    if (statement_->guard) {
        in.guard = statement_->guard->index;
        in.guard_not = statement_->guard->negated;
    }
    return in;
}

Slot Decoder::hoist(Instruction in) {
    if (function_.rows >= kMostRows) unsupported("more than 65536 registers");
    in.guard = -1;
    in.to = static_cast<Slot>(function_.rows++);
    emit(in);
    return in.to;
}

Slot Decoder::constant(std::uint64_t bits) {
    Row row;
    std::fill(std::begin(row.lane), std::end(row.lane), bits);
    function_.constants.push_back(row);
    return ~static_cast<Slot>(function_.constants.size() - 1);
}

Slot Decoder::source(const Operand& operand, Type type) {
    switch (operand.kind) {
        case OperandKind::reg:
            if (type != Type::none && size_of(operand.type) != size_of(type))
                unsupported("operand " + shown(operand) + " has " +
                            std::to_string(8 * size_of(operand.type)) + " bits, expected " +
                            std::to_string(8 * size_of(type)));
            return operand.index;
        case OperandKind::constant: {
            std::uint64_t bits = operand.token.value;
            if (is_floating(type)) {
                if (operand.token.kind == TokenKind::integer || size_of(type) < 4 || type == Type::f16x2 ||
                    type == Type::bf16x2)
                    unsupported("constant " + shown(operand) + " of this type");
                bits = floating_bits(operand.token, type);
                if (operand.negated) bits ^= type == Type::f64 ? 1ULL << 63 : 1ULL << 31;
            } else if (operand.negated) {
                if (operand.token.kind != TokenKind::integer) unsupported("a negative constant of this type");
                bits = ~bits + 1;
            }
            return constant(bits);
        }
        case OperandKind::special: {
            Instruction in = make(execute_special);
            in.detail = static_cast<std::uint16_t>(special_register(operand.token.text));
            return hoist(in);
        }
        case OperandKind::symbol: {
            const auto index = static_cast<std::uint32_t>(operand.index);
            const Variable& variable =
                operand.in_function ? function_.variables[index] : module_.variables[index];
            if (variable.space == Space::local) {
                Instruction in = make(execute_local_address);
                in.offset =
                    static_cast<std::int64_t>(variable.offset + static_cast<std::uint64_t>(operand.offset));
                return hoist(in);
            }
            const Slot slot = constant(0);
            function_.relocations.push_back(
                {static_cast<std::uint32_t>(~slot), index, operand.in_function, operand.offset});
            return slot;
        }
        case OperandKind::name:
            unsupported("unknown name " + shown(operand));
        default:
            unsupported("operand " + shown(operand) + " is none of a register, a constant and a variable");
    }
}

Slot Decoder::destination(const Operand& operand) const {
    if (operand.kind == OperandKind::none) return kNoSlot;
    if (operand.kind != OperandKind::reg)
        unsupported("expected a register to write, found " + shown(operand));
    return operand.index;
}

Slot Decoder::predicate_destination(const Operand& operand) const {
    if (operand.kind == OperandKind::none) return kNoSlot;
    if (operand.kind != OperandKind::predicate || operand.negated)
        unsupported("expected a predicate to write, found " + shown(operand));
    return operand.index;
}

void Decoder::source_predicate(const Operand& operand, Instruction& in) const {
    if (operand.kind != OperandKind::predicate) unsupported("expected a predicate, found " + shown(operand));
    in.predicate = operand.index;
    in.predicate_not = operand.negated;
}

void Decoder::address(const Operand& operand, Instruction& in) {
    if (operand.kind != OperandKind::address || operand.elements.size() != 1)
        unsupported("expected [address], found " + shown(operand));
    const Operand& base = operand.elements[0];
    if (base.kind == OperandKind::special) unsupported("the address is a special register");
    in.offset = operand.offset;
    in.from[0] = source(base, Type::none);
}

std::int32_t Decoder::add_list(List list) {
    function_.lists.push_back(std::move(list));
    return static_cast<std::int32_t>(function_.lists.size() - 1);
}

std::int32_t Decoder::label(const Token& name) {
    auto& scope = label_scopes_.back();
    const auto known = scope.find(name.text);
    if (known != scope.end()) return known->second;
    const auto number = static_cast<std::int32_t>(labels_.size());
    labels_.push_back({name, -1, -1});
    scope.emplace(name.text, number);
    return number;
}

void Decoder::define_label(const Token& name) {
    Label& place = labels_[static_cast<std::size_t>(label(name))];
    if (place.place >= 0) fail_at(name, "a label that is not defined yet");
    place.place = static_cast<std::int32_t>(function_.code.size());
}

void Decoder::close_scope() {
    const auto closed = std::move(label_scopes_.back());
    label_scopes_.pop_back();
    for (const auto& entry : closed) {
        Label& inner = labels_[static_cast<std::size_t>(entry.second)];
        if (inner.place >= 0) continue;
        if (label_scopes_.empty()) fail_at(inner.first, "a label of this function");
        const auto outer = label_scopes_.back().emplace(entry.first, entry.second);
        if (!outer.second) inner.same_as = outer.first->second;
    }
}

void Decoder::define_branch_table(const Token& name, List labels) {
    if (!branch_tables_.emplace(name.text, add_list(std::move(labels))).second)
        fail_at(name, "a table of branch targets that is not defined yet");
}

std::int32_t Decoder::branch_table(const Token& name) const {
    const auto known = branch_tables_.find(name.text);
    if (known == branch_tables_.end()) unsupported("unknown table of branch targets " + found(name));
    return known->second;
}

void Decoder::resolve_labels() {
    const auto place_of = [&](std::int32_t number) {
        while (labels_[static_cast<std::size_t>(number)].same_as >= 0)
            number = labels_[static_cast<std::size_t>(number)].same_as;
        return labels_[static_cast<std::size_t>(number)].place;
    };
    const Handler branch = find_branch_handler();
    for (Instruction& in : function_.code) {
        if (in.handler == branch) in.target = place_of(in.target);
    }
    for (const auto& table : branch_tables_) {
        for (std::int32_t& item : function_.lists[static_cast<std::size_t>(table.second)].items)
            item = place_of(item);
    }
}

}  // namespace cudamatrix::suite::ptx
