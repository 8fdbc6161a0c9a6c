#include "kernels/interpreter/declarations.hpp"

#include <cstring>

namespace cudamatrix::suite::ptx {
namespace {

/// What stands before the name.
struct Extent {
    Type type = Type::none;
    std::uint64_t vector = 1;
};

Extent read_extent(TokenReader& tokens, Variable& variable) {
    Extent shape;
    variable.align = 0;
    bool points = false;  // .ptr .global .align 4 of a parameter: what it points to is so
    while (tokens.peek().kind == TokenKind::word && tokens.peek().text[0] == '.') {
        const Token directive = tokens.next();
        const std::string_view word = directive.text.substr(1);
        if (word == "align") {
            const Token value = tokens.peek();
            const std::uint64_t align = tokens.integer("an alignment", 1, 1U << 16);
            if ((align & (align - 1)) != 0) fail_at(value, "a power of two");
            if (!points) variable.align = align;
        } else if (word == "ptr" || parse_space(word)) {
            points = points || word == "ptr";
        } else if (word == "attribute") {
            tokens.skip_past(")");
        } else if (word == "v2" || word == "v4") {
            shape.vector = word == "v2" ? 2 : 4;
        } else if (const auto type = parse_type(word); type && *type != Type::pred) {
            shape.type = *type;
        } else {
            fail_at(directive, "a type");
        }
    }
    if (shape.type == Type::none) fail_at(tokens.peek(), "a type");
    if (variable.align == 0) variable.align = size_of(shape.type) * shape.vector;
    return shape;
}

void append(Variable& variable, std::uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
        variable.initial.push_back(static_cast<std::uint8_t>(i < 8 ? bits >> (8 * i) : 0));
}

void read_initial_name(TokenReader& tokens, Variable& variable, unsigned size) {
    const Token first = tokens.name("a value");
    const bool generic = first.text == "generic" && tokens.take("(");
    const Token name = generic ? tokens.name("a variable") : first;
    if (generic) tokens.need(")");
    if (size != 8) fail_at(name, "a number (addresses have 64 bits)");
    Variable::Reference reference{variable.initial.size(), std::string(name.text), 0};
    if (tokens.take("+")) reference.offset = tokens.offset();
    variable.references.push_back(std::move(reference));
    append(variable, 0, size);
}

void read_initial_number(TokenReader& tokens, Variable& variable, Type type) {
    const bool negative = tokens.take("-");
    const Token token = tokens.next();
    std::uint64_t bits = token.value;
    if (token.kind == TokenKind::integer && !is_floating(type)) {
        if (negative) bits = ~bits + 1;
    } else if (token.kind == TokenKind::single && size_of(type) == 4) {
        if (negative) bits ^= 1ULL << 31;
    } else if (token.kind == TokenKind::real && size_of(type) == 8) {
        if (negative) bits ^= 1ULL << 63;
    } else {
        fail_at(token, "a value of the variable's type");
    }
    append(variable, bits, size_of(type));
}

/// PTX ISA, "Variable Initialization": nested braces, missing values at the end are zero.
void read_initial(TokenReader& tokens, Variable& variable, Type type) {
    variable.initialised = true;
    int depth = 0;
    do {
        if (tokens.take("{")) {
            ++depth;
        } else if (tokens.take("}")) {
            if (--depth < 0) fail_at(tokens.peek(), "a value");
        } else if (depth > 0 && tokens.take(",")) {
            continue;
        } else if (tokens.peek().kind == TokenKind::word) {
            read_initial_name(tokens, variable, size_of(type));
        } else {
            read_initial_number(tokens, variable, type);
        }
    } while (depth > 0);
}

}  // namespace

Variable read_variable(TokenReader& tokens, Space space) {
    Variable variable;
    variable.space = space;
    const Extent shape = read_extent(tokens, variable);
    const Token name = tokens.name("a name");
    variable.name = name.text;
    variable.size = size_of(shape.type) * shape.vector;
    bool open = false;
    while (tokens.take("[")) {
        if (tokens.take("]")) {
            open = true;
            continue;
        }
        const std::uint64_t count = tokens.integer("an array size", 0, kMostVariable);
        tokens.need("]");
        variable.size *= count;
        if (variable.size > kMostVariable) fail_at(name, "a variable of at most 4 GiB");
    }
    if (open) variable.size = 0;
    if (tokens.take("=")) {
        read_initial(tokens, variable, shape.type);
        if (open) variable.size = variable.initial.size();
        if (variable.initial.size() > variable.size) fail_at(name, "no more values than the variable holds");
    }
    return variable;
}

void place(Variable& variable, std::uint64_t& top) {
    top = (top + variable.align - 1) / variable.align * variable.align;
    variable.offset = top;
    top += variable.size;
}

}  // namespace cudamatrix::suite::ptx
