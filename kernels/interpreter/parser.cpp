#include "kernels/interpreter/parser.hpp"

#include "kernels/interpreter/declarations.hpp"

namespace cudamatrix::suite::ptx {
namespace {

class Parser {
  public:
    Parser(std::vector<Token> tokens, Module& module) : tokens_(std::move(tokens)), module_(module) {}

    void run() {
        while (tokens_.peek().kind != TokenKind::end)
            directive();
        if (module_.version == 0) fail_at(tokens_.peek(), ".version");
        if (module_.target == 0) fail_at(tokens_.peek(), ".target");
    }

  private:
    void directive() {
        const Token token = tokens_.next();
        if (token.text == ".version") return read_version();
        if (token.text == ".target") return read_target();
        if (token.text == ".address_size") {
            const Token size = tokens_.peek();
            if (tokens_.integer("64") != 64) fail_at(size, "64");
            return;
        }
        if (token.text == ".file" || token.text == ".loc" || token.text == ".pragma")
            return tokens_.skip_line();
        if (token.text == ".section") {
            tokens_.skip_past("{");
            return tokens_.skip_past("}");
        }
        linked(token);
    }

    /// PTX ISA, "Linking Directives", then a function or a variable.
    void linked(Token token) {
        bool external = false;
        while (token.text == ".visible" || token.text == ".extern" || token.text == ".weak" ||
               token.text == ".common") {
            external = external || token.text == ".extern";
            token = tokens_.next();
        }
        if (token.text == ".entry") return read_entry();
        if (token.text == ".func") return read_function();
        const auto space = parse_space(token.text.substr(token.text.empty() ? 0 : 1));
        if (token.kind != TokenKind::word || token.text[0] != '.' || !space || *space == Space::param ||
            *space == Space::local)
            fail_at(token, "a directive, a function or a variable");
        read_module_variable(*space, external);
    }

    void read_version() {
        const Token token = tokens_.next();
        const std::size_t dot = token.text.find('.');
        if (token.kind != TokenKind::real || dot == std::string_view::npos || dot > 3 ||
            token.text.size() != dot + 2)
            fail_at(token, "a version like 8.0");
        for (const char c : token.text) {
            if (c != '.') module_.version = module_.version * 10 + static_cast<unsigned>(c - '0');
        }
    }

    void read_target() {
        const Token token = tokens_.next();
        const std::string_view text = token.text;
        unsigned target = 0;
        for (std::size_t i = 3; text.substr(0, 3) == "sm_" && i < text.size() && i < 7; ++i) {
            if (text[i] >= '0' && text[i] <= '9') target = target * 10 + static_cast<unsigned>(text[i] - '0');
        }
        if (target == 0) fail_at(token, "a target like sm_80");
        module_.target = target;
        if (text.back() == 'a' || text.back() == 'f') module_.variant = text.back();
        while (tokens_.take(","))
            tokens_.name("a target option");
    }

    void read_module_variable(Space space, bool external) {
        const Token at = tokens_.peek();
        Variable variable = read_variable(tokens_, space);
        tokens_.need(";");
        if (space != Space::shared && variable.size == 0 && !external) fail_at(at, "a variable with a size");
        variable.external = external && space != Space::shared;
        if (space == Space::shared && variable.size != 0) place(variable, module_.shared_size);
        const auto index = static_cast<std::uint32_t>(module_.variables.size());
        const auto known = module_.variable_index.emplace(variable.name, index);
        if (known.second) {
            module_.variables.push_back(std::move(variable));
        } else if (Variable& first = module_.variables[known.first->second]; first.external) {
            first = std::move(variable);
        } else if (!variable.external) {
            fail_at(at, "a variable that is not defined yet");
        }
    }

    /// The parameters in "( )", which may be missing.
    void read_parameters(Function& function, std::vector<std::uint32_t>& into) {
        if (!tokens_.take("(")) return;
        while (!tokens_.take(")")) {
            if (!into.empty()) tokens_.need(",");
            tokens_.need(".param");
            const Token at = tokens_.peek();
            Variable variable = read_variable(tokens_, Space::param);
            place(variable, function.param_size);
            if (function.param_size > kMostParam) fail_at(at, "at most 1 MiB of parameters");
            variable.in_function = true;
            into.push_back(static_cast<std::uint32_t>(function.variables.size()));
            function.variables.push_back(std::move(variable));
        }
    }

    void read_entry() {
        const Token name = tokens_.name("the name of a kernel");
        auto function = std::make_unique<Function>();
        function->entry = true;
        read_parameters(*function, function->parameters);
        function->kernel_param_size = function->param_size;
        finish(name, std::move(function));
    }

    void read_function() {
        auto function = std::make_unique<Function>();
        read_parameters(*function, function->results);
        const Token name = tokens_.name("the name of a function");
        read_parameters(*function, function->parameters);
        finish(name, std::move(function));
    }

    /// PTX ISA, "Performance-Tuning Directives": what limits launches is kept.
    void read_tuning(Function& function) {
        while (tokens_.peek().kind == TokenKind::word && tokens_.peek().text[0] == '.') {
            const Token word = tokens_.next();
            const bool most = word.text == ".maxntid";
            if (most || word.text == ".reqntid") {
                std::uint32_t* into = most ? function.most_threads : function.required_threads;
                into[0] = into[1] = into[2] = 1;
                int i = 0;
                do {
                    into[i] = static_cast<std::uint32_t>(tokens_.integer("a number of threads", 1, 1024));
                } while (++i < 3 && tokens_.take(","));
            } else if (word.text == ".minnctapersm" || word.text == ".maxnreg" ||
                       word.text == ".maxnctapersm") {
                tokens_.integer("a number");
            } else if (word.text == ".pragma") {
                tokens_.skip_past(";");
            } else if (word.text != ".noreturn") {
                fail_at(word, "{ or a directive for a function");
            }
        }
    }

    void finish(const Token& name, std::unique_ptr<Function> function) {
        function->name = name.text;
        read_tuning(*function);
        const auto known = module_.function_index.find(name.text);
        Function* into = nullptr;
        if (known == module_.function_index.end()) {
            const auto index = static_cast<std::uint32_t>(module_.functions.size());
            module_.function_index.emplace(name.text, index);
            module_.functions.push_back(std::move(function));
            into = module_.functions.back().get();
        } else {
            std::unique_ptr<Function>& first = module_.functions[known->second];
            if (first->parameters.size() != function->parameters.size() ||
                first->results.size() != function->results.size())
                fail_at(name, "the parameters of its declaration");
            if (!first->defined) first = std::move(function);
            into = first.get();
        }
        if (tokens_.take(";")) return;
        if (into->defined) fail_at(name, "a function that is not defined yet");
        into->defined = true;
        read_body(tokens_, module_, *into);
    }

    TokenReader tokens_;
    Module& module_;
};

}  // namespace

ParseResult parse_module(std::string_view text) {
    ParseResult result;
    try {
        auto module = std::make_unique<Module>();
        module->text = text.substr(0, text.find('\0'));
        Parser(tokens_of(module->text), *module).run();
        result.module = std::move(module);
    } catch (const ParseError& error) {
        result.error = error.what();
    }
    return result;
}

const Function* Module::entry(std::string_view name) const {
    const auto known = function_index.find(name);
    if (known == function_index.end()) return nullptr;
    const Function* function = functions[known->second].get();
    return function->entry && function->defined ? function : nullptr;
}

std::string_view Module::line(std::uint32_t number) const {
    std::string_view rest = text;
    for (std::uint32_t i = 1; i < number; ++i) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) return {};
        rest.remove_prefix(end + 1);
    }
    rest = rest.substr(0, rest.find('\n'));
    const std::size_t begin = rest.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return rest.substr(begin, rest.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace cudamatrix::suite::ptx
