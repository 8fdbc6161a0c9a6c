#include <algorithm>

#include "kernels/interpreter/declarations.hpp"
#include "kernels/interpreter/flow.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::uint64_t kMostRegisters = 1U << 16;
constexpr std::size_t kMostInstructions = 1U << 22;
constexpr std::size_t kMostScopes = 64;
constexpr int kMostNesting = 8;  // of operands

/// %r<60>: registers %r0 to %r59; a single name has no count.
struct Registers {
    Type type = Type::none;
    std::uint32_t first = 0;
    std::uint64_t count = 0;  ///< 0: a single one
};

/// Special registers that are none here: only what reads them fails.
bool is_foreign(std::string_view name) {
    static constexpr std::string_view kBegins[] = {
        "%envreg", "%cluster",        "%ncluster",       "%is_explicit_cluster", "%aggr_",
        "%pm",     "%current_graph_", "%reserved_smem_", "%globaltimer_"};
    return std::any_of(std::begin(kBegins), std::end(kBegins),
                       [&](std::string_view begin) { return name.substr(0, begin.size()) == begin; });
}

struct Scope {
    std::map<std::string, Registers, std::less<>> registers;
    std::map<std::string, std::uint32_t, std::less<>> variables;  ///< of the function
};

class BodyReader {
  public:
    BodyReader(TokenReader& tokens, Module& module, Function& function)
        : tokens_(tokens), module_(module), function_(function), decoder_(module, function) {}

    void run() {
        open_scope();
        for (std::uint32_t i = 0; i < function_.variables.size(); ++i)
            scopes_.back().variables.emplace(function_.variables[i].name, i);
        tokens_.need("{");
        std::size_t open = 1;
        while (open > 0) {
            if (tokens_.take("}")) {
                if (--open == 0) append_return();
                close_scope();
            } else if (tokens_.is("{")) {
                if (scopes_.size() == kMostScopes) fail_at(tokens_.peek(), "at most 64 nested blocks");
                tokens_.next();
                ++open;
                open_scope();
            } else {
                statement();
            }
        }
        // Each lane's parameters begin where any of them may.
        if (function_.param_size != function_.kernel_param_size)
            function_.param_size = (function_.param_size + 15) / 16 * 16;
        decoder_.resolve_labels();
        find_reconvergence(function_);
    }

  private:
    void open_scope() {
        scopes_.emplace_back();
        decoder_.open_scope();
    }
    void close_scope() {
        scopes_.pop_back();
        decoder_.close_scope();
    }

    /// The end of a body is a return.
    void append_return() {
        Statement ret;
        ret.opcode = tokens_.peek();
        ret.opcode.text = "ret";
        ret.name = ret.opcode.text;
        decode(ret);
    }

    void statement() {
        if (tokens_.take(";")) return;
        const Token token = tokens_.peek();
        if (tokens_.is("@")) return instruction();
        if (token.kind != TokenKind::word) fail_at(token, "an instruction");
        if (token.text[0] == '.') return directive();
        if (tokens_.peek_second().kind != TokenKind::character || tokens_.peek_second().text != ":")
            return instruction();
        tokens_.next();
        tokens_.next();
        if (tokens_.take(".branchtargets")) return branch_targets(token);
        if (tokens_.take(".callprototype")) return tokens_.skip_past(";");
        decoder_.define_label(token);
    }

    void branch_targets(const Token& name) {
        List labels;
        do {
            labels.items.push_back(decoder_.label(tokens_.name("a label")));
        } while (tokens_.take(","));
        tokens_.need(";");
        decoder_.define_branch_table(name, std::move(labels));
    }

    void directive() {
        const Token token = tokens_.next();
        if (token.text == ".loc" || token.text == ".file") return tokens_.skip_line();
        if (token.text == ".pragma") return tokens_.skip_past(";");
        if (token.text == ".reg") return registers();
        const auto space = parse_space(token.text.substr(1));
        if (!space || (*space != Space::shared && *space != Space::local && *space != Space::param))
            fail_at(token, "an instruction, .reg, .shared, .local or .param");
        const Token at = tokens_.peek();
        Variable variable = read_variable(tokens_, *space);
        tokens_.need(";");
        variable.in_function = true;
        if (*space == Space::param) place(variable, function_.param_size);
        if (*space == Space::local) place(variable, function_.local_size);
        if (*space == Space::shared && variable.size != 0) place_shared(variable);
        if (function_.param_size > kMostParam) fail_at(at, "at most 1 MiB of parameters");
        if (!scopes_.back()
                 .variables.emplace(variable.name, static_cast<std::uint32_t>(function_.variables.size()))
                 .second)
            fail_at(at, "a variable that is not declared yet");
        function_.variables.push_back(std::move(variable));
    }

    /// What a device function shares lies with the module's, for any kernel may call it.
    void place_shared(Variable& variable) {
        variable.in_function = function_.entry;
        place(variable, function_.entry ? function_.shared_size : module_.shared_size);
    }

    void registers() {
        const Token word = tokens_.next();
        const auto type = parse_type(word.text.substr(std::min<std::size_t>(1, word.text.size())));
        if (word.kind != TokenKind::word || word.text[0] != '.' || !type) fail_at(word, "a type");
        std::uint32_t& used = *type == Type::pred ? function_.predicates : function_.rows;
        do {
            const Token name = tokens_.name("a register");
            Registers added{*type, used, 0};
            if (tokens_.take("<")) {
                added.count = tokens_.integer("a number of registers", 1, kMostRegisters);
                tokens_.need(">");
            }
            used += static_cast<std::uint32_t>(std::max<std::uint64_t>(added.count, 1));
            if (used > kMostRegisters) fail_at(name, "at most 65536 registers");
            if (!scopes_.back().registers.emplace(name.text, added).second)
                fail_at(name, "a register that is not declared yet");
        } while (tokens_.take(","));
        tokens_.need(";");
    }

    void instruction() {
        Statement statement;
        if (tokens_.take("@")) {
            const bool negated = tokens_.take("!");
            Operand guard = operand(0);
            if (guard.kind != OperandKind::predicate) fail_at(guard.token, "a predicate");
            guard.negated = negated;
            statement.guard = guard;
        }
        statement.opcode = tokens_.name("an instruction");
        split(statement);
        if (!tokens_.is(";")) {
            do {
                statement.operands.push_back(operand(0));
            } while (tokens_.take(","));
        }
        tokens_.need(";");
        decode(statement);
    }

    static void split(Statement& statement) {
        std::string_view rest = statement.opcode.text;
        statement.name = rest.substr(0, rest.find('.'));
        while ((rest = rest.substr(std::min(rest.find('.'), rest.size()))).size() > 1) {
            rest.remove_prefix(1);
            statement.modifiers.push_back(rest.substr(0, rest.find('.')));
        }
    }

    void decode(const Statement& statement) {
        if (function_.code.size() > kMostInstructions)
            fail_at(statement.opcode, "at most 4194304 instructions");
        decoder_.begin(statement);
        const std::size_t before = function_.code.size();
        try {
            const Decode family = find_decode(statement.name);
            if (family == nullptr)
                throw Unsupported(std::string(statement.opcode.text) + ": instruction not known");
            family(decoder_);
            decoder_.end();
        } catch (const Unsupported& error) {
            function_.code.resize(before);  // what was decoded without a modifier
            Instruction in = decoder_.make(execute_unsupported);
            in.target = static_cast<std::int32_t>(function_.messages.size());
            function_.messages.push_back(error.what());
            decoder_.emit(in);
        }
        note_operands(statement);
    }

    /// wgmma and tcgen05.ld say themselves what they do with their registers.
    void note_operands(const Statement& statement) {
        const auto begin = static_cast<std::uint32_t>(function_.operands.size());
        if (statement.name != "wgmma" && statement.name != "tcgen05") {
            for (const Operand& operand : statement.operands)
                note_rows(operand);
        }
        function_.operand_begin.resize(function_.code.size(), begin);
    }

    void note_rows(const Operand& operand) {
        if (operand.kind == OperandKind::reg) function_.operands.push_back(operand.index);
        for (const Operand& element : operand.elements)
            note_rows(element);
    }

    Operand operand(int depth) {
        Operand result;
        result.token = tokens_.peek();
        if (depth > kMostNesting) fail_at(result.token, "operands that are nested less");
        if (tokens_.take("{")) return elements(std::move(result), OperandKind::vector, "}", depth);
        if (tokens_.take("(")) return elements(std::move(result), OperandKind::list, ")", depth);
        if (tokens_.take("[")) {
            result = elements(std::move(result), OperandKind::address, "]", depth);
            if (result.elements.empty()) fail_at(result.token, "an address");
            Operand& base = result.elements[0];
            std::swap(result.offset, base.offset);
            return result;
        }
        if (tokens_.take("!")) {
            result = operand(depth + 1);
            if (result.kind != OperandKind::predicate) fail_at(result.token, "a predicate");
            result.negated = !result.negated;
            return result;
        }
        result.negated = tokens_.take("-");
        result.token = tokens_.next();
        if (result.token.kind == TokenKind::integer || result.token.kind == TokenKind::single ||
            result.token.kind == TokenKind::real) {
            result.kind = OperandKind::constant;
            return result;
        }
        if (result.negated || result.token.kind != TokenKind::word || result.token.text[0] == '.')
            fail_at(result.token, "an operand");
        return named(std::move(result));
    }

    Operand elements(Operand result, OperandKind kind, const char* close, int depth) {
        result.kind = kind;
        while (!tokens_.take(close)) {
            if (!result.elements.empty()) tokens_.need(",");
            result.elements.push_back(operand(depth + 1));
        }
        return result;
    }

    Operand named(Operand result) {
        const std::string_view name = result.token.text;
        if (name == "_") return second(std::move(result));
        if (find_register(name, result)) return second(with_offset(std::move(result)));
        if (name[0] == '%') {
            result.kind = special_register(name) >= 0 ? OperandKind::special : OperandKind::name;
            if (result.kind == OperandKind::name && !is_foreign(name))
                fail_at(result.token, "a register that is declared");
            return result;
        }
        if (name == "WARP_SZ") {
            result.kind = OperandKind::constant;
            result.token.kind = TokenKind::integer;
            result.token.value = kLanes;
            return result;
        }
        result.kind = find_variable(name, result) ? OperandKind::symbol : OperandKind::name;
        return result.kind == OperandKind::symbol ? with_offset(std::move(result)) : result;
    }

    Operand with_offset(Operand result) {
        if (tokens_.take("+")) result.offset = tokens_.offset();
        return result;
    }

    /// %r1|%p1 and _|%p1.
    Operand second(Operand result) {
        if (!tokens_.take("|")) return result;
        const Operand other = operand(kMostNesting);
        if (other.kind != OperandKind::predicate && other.kind != OperandKind::none)
            fail_at(other.token, "a predicate");
        result.second = other.index;
        return result;
    }

    bool find_register(std::string_view name, Operand& result) const {
        std::size_t digits = name.size();
        while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
            --digits;
        std::uint64_t number = 0;
        const bool numbered = digits < name.size() && name.size() - digits < 8 &&
                              (name[digits] != '0' || digits + 1 == name.size());
        for (std::size_t i = digits; numbered && i < name.size(); ++i)
            number = number * 10 + static_cast<std::uint64_t>(name[i] - '0');
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            auto known = scope->registers.find(name);
            std::uint64_t index = 0;
            if (known == scope->registers.end() || known->second.count != 0) {
                known = numbered ? scope->registers.find(name.substr(0, digits)) : scope->registers.end();
                index = number;
                if (known == scope->registers.end() || index >= known->second.count) continue;
            }
            result.type = known->second.type;
            result.kind = result.type == Type::pred ? OperandKind::predicate : OperandKind::reg;
            result.index = static_cast<std::int32_t>(known->second.first + index);
            return true;
        }
        return false;
    }

    bool find_variable(std::string_view name, Operand& result) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            const auto known = scope->variables.find(name);
            if (known == scope->variables.end()) continue;
            result.index = static_cast<std::int32_t>(known->second);
            result.in_function = true;
            return true;
        }
        const auto known = module_.variable_index.find(name);
        if (known == module_.variable_index.end()) return false;
        result.index = static_cast<std::int32_t>(known->second);
        return true;
    }

    TokenReader& tokens_;
    Module& module_;
    Function& function_;
    Decoder decoder_;
    std::vector<Scope> scopes_;
};

}  // namespace

void read_body(TokenReader& tokens, Module& module, Function& function) {
    BodyReader(tokens, module, function).run();
}

}  // namespace cudamatrix::suite::ptx
