#include "look/measure/demand.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::measure {

struct Marker::Node {
    enum class Kind { compare, both, either };
    Kind kind = Kind::compare;
    std::shared_ptr<const Node> a;
    std::shared_ptr<const Node> b;
    // compare:
    std::string left;
    std::string right;
    std::string operation;
    bool left_is_variable = false;
    bool right_is_variable = false;
};

namespace {

using Node = Marker::Node;
using NodePointer = std::shared_ptr<const Node>;

constexpr std::size_t kDeepest = 64;

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    NodePointer whole() {
        auto node = either(0);
        skip();
        return rest_.empty() ? node : nullptr;
    }

  private:
    void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
    bool take(std::string_view text) {
        skip();
        if (!rest_.starts_with(text)) return false;
        const bool is_word = text.front() >= 'a' && text.front() <= 'z';
        if (is_word && rest_.size() > text.size() && is_letter(rest_[text.size()])) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    static bool is_letter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.';
    }
    static NodePointer join(Node::Kind kind, NodePointer a, NodePointer b) {
        if (!a || !b) return nullptr;
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->a = std::move(a);
        node->b = std::move(b);
        return node;
    }
    NodePointer either(std::size_t depth) {
        auto node = both(depth);
        while (node && take("or"))
            node = join(Node::Kind::either, std::move(node), both(depth));
        return node;
    }
    NodePointer both(std::size_t depth) {
        auto node = one(depth);
        while (node && take("and"))
            node = join(Node::Kind::both, std::move(node), one(depth));
        return node;
    }
    NodePointer one(std::size_t depth) {
        if (depth > kDeepest) return nullptr;
        if (take("(")) {
            auto node = either(depth + 1);
            return node && take(")") ? node : nullptr;
        }
        auto node = std::make_shared<Node>();
        if (!operand(node->left, node->left_is_variable) || !operation(node->operation) ||
            !operand(node->right, node->right_is_variable)) {
            return nullptr;
        }
        return node;
    }
    bool operand(std::string& text, bool& is_variable) {
        skip();
        if (rest_.empty()) return false;
        if (rest_.front() == '"' || rest_.front() == '\'') {
            const auto end = rest_.find(rest_.front(), 1);
            if (end == std::string_view::npos) return false;
            text = rest_.substr(1, end - 1);
            rest_.remove_prefix(end + 1);
            return true;
        }
        const auto* end = std::ranges::find_if_not(rest_, is_letter);
        text = std::string(rest_.begin(), end);
        rest_.remove_prefix(text.size());
        is_variable = true;
        return !text.empty();
    }
    bool operation(std::string& text) {
        for (const std::string_view each : {"===", "==", "~=", "!=", "<=", ">=", "<", ">", "in"}) {
            if (take(each)) {
                text = each;
                return true;
            }
        }
        if (take("not") && take("in")) {
            text = "not in";
            return true;
        }
        return false;
    }

    std::string_view rest_;
};

struct Surroundings {
    std::string_view python;
    std::string_view arch;

    [[nodiscard]] std::optional<std::string> value(std::string_view name) const {
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kFixed{{
            {"os_name", "posix"},
            {"os.name", "posix"},
            {"sys_platform", "linux"},
            {"sys.platform", "linux"},
            {"platform_system", "Linux"},
            {"platform_python_implementation", "CPython"},
            {"python_implementation", "CPython"},
            {"implementation_name", "cpython"},
        }};
        if (name == "extra") return "";
        if (name == "python_version") return std::string(python);
        if (name == "python_full_version") return std::string(python) + ".99";  // the newest of its minor
        if (name == "platform_machine" || name == "platform.machine") return std::string(arch);
        const auto* found =
            std::ranges::find_if(kFixed, [&](const auto& each) { return each.first == name; });
        return found == kFixed.end() ? std::nullopt : std::optional(std::string(found->second));
    }
};

std::optional<bool> compare(const Node& node, const Surroundings& here) {
    const auto left = node.left_is_variable ? here.value(node.left) : std::optional(node.left);
    const auto right = node.right_is_variable ? here.value(node.right) : std::optional(node.right);
    if (!left || !right) return std::nullopt;
    if (node.operation == "in") return right->find(*left) != std::string::npos;
    if (node.operation == "not in") return right->find(*left) == std::string::npos;
    // As versions where both are, else as text (PEP 508).
    const auto specifier = pep440::Specifier::parse(node.operation + *right);
    const auto version = pep440::Version::parse(*left);
    if (specifier && version) return specifier->admits(*version);
    if (node.operation == "==" || node.operation == "===") return *left == *right;
    if (node.operation == "!=") return *left != *right;
    if (node.operation == "<") return *left < *right;
    if (node.operation == "<=") return *left <= *right;
    if (node.operation == ">") return *left > *right;
    if (node.operation == ">=") return *left >= *right;
    return std::nullopt;
}

// Unknown only where the known half does not decide.
std::optional<bool> judge(const Node& node, const Surroundings& here) {
    if (node.kind == Node::Kind::compare) return compare(node, here);
    const bool deciding = node.kind == Node::Kind::either;
    const auto a = judge(*node.a, here);
    if (a == deciding) return deciding;
    const auto b = judge(*node.b, here);
    if (b == deciding) return deciding;
    return a && b ? std::optional(!deciding) : std::nullopt;
}

}  // namespace

std::optional<Marker> Marker::parse(std::string_view text) {
    if (text.empty()) return Marker(nullptr);
    auto root = Parser(text).whole();
    if (!root) return std::nullopt;
    return Marker(std::move(root));
}

std::optional<bool> Marker::holds(std::string_view python, std::string_view arch) const {
    if (!root_) return true;
    return judge(*root_, {python, arch});
}

}  // namespace cudamatrix::measure
