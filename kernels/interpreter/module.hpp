#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/interpreter/types.hpp"

/// A PTX module as it is executed: no names to look up, no text to read. parser.hpp makes one.
namespace cudamatrix::suite::ptx {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;  ///< one bit for each lane of a warp

/// A register of a warp: one value for each lane in the low bits; what is above the type's width has no
/// meaning but after loads and conversions, which extend.
struct Row {
    alignas(64) std::uint64_t lane[kLanes];
};

class Warp;
struct Instruction;

/// Executes an instruction for the lanes of a mask, which is not empty unless the instruction is `flow`.
using Handler = void (*)(Warp&, const Instruction&, Mask);

/// Index of a register row when >= 0, of a constant of the function (~slot) otherwise.
using Slot = std::int32_t;
inline constexpr std::int32_t kNoSlot = INT32_MIN;

/// Flags of instructions on floating point: .ftz, .sat, .NaN, .relu. A family's own begin at kFirstOwn.
enum NumberFlag : std::uint8_t { kFlush = 1, kSaturate = 2, kNanWins = 4, kRelu = 8, kFirstOwn = 16 };

/// One decoded instruction. What a family keeps in `detail` and `flags` is described in its file.
struct Instruction {
    Handler handler = nullptr;
    Slot to = kNoSlot;   ///< row, or predicate when the result is one
    Slot to2 = kNoSlot;  ///< second predicate of setp, predicate of shfl
    Slot from[3] = {kNoSlot, kNoSlot, kNoSlot};
    std::int32_t predicate = -1;   ///< source predicate (selp, vote, setp.and ...)
    std::int32_t guard = -1;       ///< @p
    std::int32_t target = -1;      ///< index of an instruction, a function or a list
    std::int32_t reconverge = -1;  ///< where lanes that part here meet again; -1: nowhere in this function
    std::int64_t offset = 0;       ///< of an address, in bytes
    std::uint32_t line = 0;        ///< in the PTX text
    std::uint16_t detail = 0;
    std::uint8_t flags = 0;
    std::uint8_t width = 0;  ///< of one element, in bytes
    std::uint8_t count = 1;  ///< elements of a vector
    Space space = Space::generic;
    bool guard_not = false;
    bool predicate_not = false;
    bool flow = false;  ///< the handler moves the program counter itself
};

/// A variable, or a parameter.
struct Variable {
    std::string name;
    Space space = Space::global;
    std::uint64_t size = 0;  ///< bytes; 0 for an open array (dynamic shared memory)
    std::uint64_t align = 1;
    std::uint64_t offset = 0;   ///< within its space: shared, local, param
    std::uint64_t address = 0;  ///< global and constant: set by the loader
    bool in_function = false;   ///< shared: lies behind those of the module
    bool external = false;      ///< declared, defined nowhere
    bool initialised = false;
    std::vector<std::uint8_t> initial;
    struct Reference {
        std::uint64_t at = 0;  ///< where in `initial`
        std::string name;
        std::int64_t offset = 0;
    };
    std::vector<Reference> references;
};

/// A constant whose value the loader knows: the address of a variable, plus an offset.
struct Relocation {
    std::uint32_t constant = 0;
    std::uint32_t variable = 0;  ///< of the module, or of the function when `in_function`
    bool in_function = false;
    std::int64_t offset = 0;
};

/// Operands that do not fit into an instruction: vectors, tables of branch targets, arguments of calls.
struct List {
    std::vector<std::int32_t> items;
};

struct Function {
    std::string name;
    bool entry = false;
    bool defined = false;
    std::vector<Instruction> code;
    std::vector<Row> constants;
    std::vector<Relocation> relocations;
    std::vector<List> lists;
    /// The rows that the operands of instruction i are: operands[operand_begin[i]] up to those of the next
    /// one.
    std::vector<std::int32_t> operands;
    std::vector<std::uint32_t> operand_begin;
    std::vector<std::string> messages;      ///< of instructions that cannot be executed
    std::vector<Variable> variables;        ///< shared, local and parameters
    std::vector<std::uint32_t> parameters;  ///< in order; indexes of `variables`
    std::vector<std::uint32_t> results;
    std::uint32_t rows = 0;
    std::uint32_t predicates = 0;
    std::int32_t carry = -1;              ///< predicate that holds the carry flag
    std::uint64_t kernel_param_size = 0;  ///< entry: bytes of its parameters
    std::uint64_t param_size = 0;         ///< with those that calls in it pass on
    std::uint64_t local_size = 0;
    std::uint64_t shared_size = 0;                  ///< static, without that of the module
    std::uint32_t most_threads[3] = {0, 0, 0};      ///< .maxntid; 0: not said
    std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid; 0: not said
};

struct Module {
    std::string text;
    unsigned version = 0;  ///< 90 for .version 9.0
    unsigned target = 0;   ///< 80 for sm_80
    char variant = 0;      ///< 'a' of sm_90a, 'f' of sm_100f
    std::vector<Variable> variables;
    std::vector<std::unique_ptr<Function>> functions;
    std::map<std::string, std::uint32_t, std::less<>> function_index;
    std::map<std::string, std::uint32_t, std::less<>> variable_index;
    std::uint64_t shared_size = 0;  ///< of the module's own shared variables

    /// Null when there is none that is defined.
    [[nodiscard]] const Function* entry(std::string_view name) const;
    /// A line of `text` without blanks around it.
    [[nodiscard]] std::string_view line(std::uint32_t number) const;
};

}  // namespace cudamatrix::suite::ptx
