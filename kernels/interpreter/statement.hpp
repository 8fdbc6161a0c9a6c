#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/interpreter/lexer.hpp"
#include "kernels/interpreter/module.hpp"

/// An instruction as it is written, and what the families of instructions decode it with.
namespace cudamatrix::suite::ptx {

enum class OperandKind : std::uint8_t {
    none,       ///< _
    reg,        ///< index
    predicate,  ///< index, negated
    constant,   ///< token: integer, single or real; negated
    special,    ///< %tid.x: name
    symbol,     ///< a variable: index, in_function, offset
    address,    ///< [elements[0] + offset]
    vector,     ///< {elements}
    list,       ///< (elements): of calls
    name,       ///< a label, a function
};

struct Operand {
    OperandKind kind = OperandKind::none;
    Token token;
    bool negated = false;
    bool in_function = false;
    std::int32_t index = -1;
    std::int32_t second = -1;  ///< %r1|%p1: index of the predicate behind the bar
    std::int64_t offset = 0;
    Type type = Type::none;  ///< of a register
    std::vector<Operand> elements;
};

struct Statement {
    Token opcode;
    std::string_view name;                    ///< "ld" of ld.global.f32
    std::vector<std::string_view> modifiers;  ///< without dots
    std::vector<Operand> operands;
    std::optional<Operand> guard;
};

/// An instruction that this interpreter does not know, or not in this form: it becomes an instruction that
/// fails when it is executed.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Turns one statement into instructions of a function. What is not taken from the modifiers is an error.
class Decoder {
  public:
    Decoder(Module& module, Function& function) : module_(module), function_(function) {}

    void begin(const Statement& statement);
    /// Throws Unsupported when modifiers are left.
    void end() const;

    [[nodiscard]] const Statement& statement() const { return *statement_; }
    [[nodiscard]] Function& function() { return function_; }
    [[nodiscard]] Module& module() { return module_; }

    /// True, and the modifier is gone, when the next one is `word`.
    bool take(std::string_view word);
    /// Index of the next modifier among `words`, which is taken; -1 when it is none of them.
    int take_one_of(std::initializer_list<std::string_view> words);
    /// The next modifier, whatever it is.
    std::string_view take_word(const char* what);
    /// The next modifier as a type.
    Type take_type();
    /// The next modifier as a state space, generic when it is none.
    Space take_space();
    /// The same where only shared memory is meant, by its own or a generic address; throws Unsupported else.
    Space take_shared_space();
    /// The modifiers .sync.aligned, which must be there.
    void take_aligned();
    [[nodiscard]] bool at_end() const { return next_ == statement_->modifiers.size(); }

    [[nodiscard]] std::size_t count() const { return statement_->operands.size(); }
    void expect(std::size_t least, std::size_t most) const;
    [[nodiscard]] const Operand& operand(std::size_t i) const { return statement_->operands[i]; }

    /// A source: a register, a constant of type `type`, a special register or the address of a variable.
    Slot source(const Operand& operand, Type type);
    Slot source(std::size_t i, Type type) { return source(operand(i), type); }
    /// A row that is written; kNoSlot for "_".
    Slot destination(const Operand& operand) const;
    Slot destination(std::size_t i) const { return destination(operand(i)); }
    Slot predicate_destination(const Operand& operand) const;
    /// A source predicate into `in`; a constant (0, 1) is not taken.
    void source_predicate(const Operand& operand, Instruction& in) const;
    /// [register + offset] or [variable + offset] into from[0] and offset.
    void address(const Operand& operand, Instruction& in);
    std::int32_t add_list(List list);
    Slot constant(std::uint64_t bits);
    /// Number of the list of labels of a .branchtargets table.
    std::int32_t branch_table(const Token& name) const;

    /// The row of a family's table that has the statement's name.
    template <typename Row, std::size_t N>
    [[nodiscard]] const Row& row_of(const Row (&rows)[N]) const {
        for (const Row& row : rows) {
            if (row.name == statement_->name) return row;
        }
        unsupported("not for this type");
    }

    /// A fresh instruction with the statement's guard and line.
    [[nodiscard]] Instruction make(Handler handler) const;
    void emit(const Instruction& in) { function_.code.push_back(in); }
    /// Emits `in` with a destination and up to three sources of `type`, the third of `last`. Those that there
    /// are not are the first once more.
    void emit(Instruction in, std::size_t sources, Type type, Type last);
    void emit(const Instruction& in, std::size_t sources, Type type) { emit(in, sources, type, type); }

    [[noreturn]] void unsupported(const std::string& why) const;
    /// Throws Unsupported when the module is for an older architecture than sm_`least`.
    void need_target(unsigned least) const;
    /// Throws Unsupported when the module is not for sm_`target`a.
    void need_specific_target(unsigned target) const;

    /// Labels have the scope of their { }: what is not defined there is looked for around it.
    void open_scope() { label_scopes_.emplace_back(); }
    void close_scope();
    /// The label's number, wherever it will stand.
    std::int32_t label(const Token& name);
    void define_label(const Token& name);
    void define_branch_table(const Token& name, List labels);
    /// Replaces label numbers by places. Throws ParseError when one is defined nowhere.
    void resolve_labels();

  private:
    struct Label {
        Token first;
        std::int32_t place = -1;
        std::int32_t same_as = -1;  ///< number of the label of an outer scope
    };
    Slot hoist(Instruction in);

    Module& module_;
    Function& function_;
    const Statement* statement_ = nullptr;
    std::size_t next_ = 0;
    std::vector<Label> labels_;
    std::vector<std::map<std::string, std::int32_t, std::less<>>> label_scopes_;
    std::map<std::string, std::int32_t, std::less<>> branch_tables_;
};

/// The table of instructions: the family that decodes `statement`, or nothing.
using Decode = void (*)(Decoder&);
[[nodiscard]] Decode find_decode(std::string_view name);

// The families, one file each. Each decodes the statement that the decoder holds and emits it.
void decode_arithmetic(Decoder& decoder);   // arithmetic.cpp: integers
void decode_extended(Decoder& decoder);     // extended.cpp: with carry
void decode_floating(Decoder& decoder);     // floating.cpp: f32 and f64
void decode_half(Decoder& decoder);         // half.cpp: f16 and bf16
void decode_approximate(Decoder& decoder);  // approximate.cpp
void decode_logic(Decoder& decoder);        // logic.cpp
void decode_bits(Decoder& decoder);         // bits.cpp: fields, permutations
void decode_compare(Decoder& decoder);      // compare.cpp
void decode_conversion(Decoder& decoder);   // conversion.cpp
void decode_narrow(Decoder& decoder);       // narrow.cpp: cvt of tf32, e4m3, e5m2
void decode_move(Decoder& decoder);         // move.cpp
void decode_access(Decoder& decoder);       // access.cpp: ld, st
void decode_atomic(Decoder& decoder);       // atomic.cpp
void decode_exchange(Decoder& decoder);     // exchange.cpp: shfl, vote ...
void decode_barrier(Decoder& decoder);      // barrier.cpp
void decode_mma(Decoder& decoder);          // mma.cpp
void decode_wgmma(Decoder& decoder);        // wgmma_forms.cpp
void decode_setmaxnreg(Decoder& decoder);   // wgmma_forms.cpp
void decode_tcgen05(Decoder& decoder);      // tcgen05.cpp
void decode_ldmatrix(Decoder& decoder);     // ldmatrix.cpp
void decode_wmma(Decoder& decoder);         // wmma.cpp
void decode_cp_async(Decoder& decoder);     // cp_async.cpp
void decode_bulk_copy(Decoder& decoder);    // bulk_copy.cpp: cp.async.bulk
void decode_mbarrier(Decoder& decoder);     // mbarrier.cpp
void decode_mapa(Decoder& decoder);         // cluster.cpp
void decode_cluster_barrier(Decoder& decoder);
void decode_control(Decoder& decoder);  // control.cpp

/// The handler of `bra`: what holds a label.
[[nodiscard]] Handler find_branch_handler();
/// The handler of `brx.idx`.
[[nodiscard]] Handler find_indexed_branch_handler();
/// True for ret, exit and trap.
[[nodiscard]] bool is_end_of_lanes(const Instruction& in);
/// Fails with the message `messages[target]` of the function.
void execute_unsupported(Warp& warp, const Instruction& in, Mask mask);
/// Writes a special register (`detail`), or the address of a local variable.
void execute_special(Warp& warp, const Instruction& in, Mask mask);
void execute_local_address(Warp& warp, const Instruction& in, Mask mask);
/// Number of a special register for `detail`; -1 when there is none of the name.
[[nodiscard]] int special_register(std::string_view name);

}  // namespace cudamatrix::suite::ptx
