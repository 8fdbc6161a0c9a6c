#include "matrix/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "base/text.hpp"

namespace cudamatrix::yaml {
namespace {

// Leaves yaml-cpp from inside a handler; never leaves this file.
struct Refusal {
    Diagnostic diagnostic;
};

std::string shortened(std::string_view text) {
    constexpr std::size_t longest = 60;
    return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

// Builds the tree from yaml-cpp's events and refuses what the file format does not have.
class Builder final : public YAML::EventHandler {
  public:
    Builder(std::string_view source, std::string_view file, const Limits& limits)
        : source_(source), file_(file), limits_(limits) {}

    Node root;

    // Where the innermost collection that is still open began; what a cut-off file is told about.
    [[nodiscard]] std::optional<Location> innermost_open() const {
        return stack_.empty() ? std::nullopt : std::optional(stack_.back().node.where);
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ == 1) return;
        const auto where = location(mark);
        if (source_.substr(offset(mark)).starts_with("---"))
            refuse(where, "a second document: a file holds one",
                   "delete everything from this line on, or use two files");
        refuse(where, "text after the end of the document",
               "indent it so that it belongs to a key, or delete it");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        check_node(mark, "?", anchor);
        add({Node::Kind::null, location(mark), {}, false, {}, {}});
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(location(mark), "an alias ('*'): this file format has none", "write the value out");
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_node(mark, tag, anchor);
        Node node;
        node.kind = Node::Kind::scalar;
        node.where = location(mark);
        node.quoted = first(mark) == '"' || first(mark) == '\'';
        if (value.size() > limits_.scalar_bytes)
            refuse(
                node.where,
                fmt::format("a value of {} bytes: at most {} are read", value.size(), limits_.scalar_bytes),
                {});
        if (text::invalid_utf8(value))
            refuse(node.where, "a value that is not valid UTF-8", "write plain text");
        if (const auto bad = forbidden_character(value))
            refuse(node.where,
                   fmt::format(
                       "an escape for the character {} (invisible or a control character): text is accepted",
                       code_point_name(value, *bad)),
                   "delete it");
        node.where.length = std::max<std::size_t>(1, value.size());
        if (node.quoted) check_quoted(offset(mark), node.where);
        node.text = value;
        add(std::move(node));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        open(mark, tag, anchor, style, Node::Kind::sequence, '[');
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        open(mark, tag, anchor, style, Node::Kind::map, '{');
    }
    void OnMapEnd() override { close(); }

    void OnAnchor(const YAML::Mark& mark, const std::string& name) override { refuse_anchor(mark, name); }

  private:
    struct Frame {
        Node node;
        bool flow = false;
        std::optional<Node> key;                           // map: the key whose value comes next
        std::unordered_map<std::string, Location> keys{};  // map: where each key stands
    };

    [[noreturn]] static void refuse(Location where, std::string message, std::string fix) {
        throw Refusal{Diagnostic::error(std::move(message), std::move(where)).with_fix(std::move(fix))};
    }
    [[noreturn]] void refuse_anchor(const YAML::Mark& mark, const std::string& name) const {
        refuse(location(mark), fmt::format("an anchor ('&{}'): this file format has none", shortened(name)),
               "write the value out where it is needed");
    }

    [[nodiscard]] static std::size_t offset(const YAML::Mark& mark) {
        return static_cast<std::size_t>(std::max(0, mark.pos));
    }
    [[nodiscard]] char first(const YAML::Mark& mark) const {
        return offset(mark) < source_.size() ? source_[offset(mark)] : '\0';
    }
    [[nodiscard]] Location location(const YAML::Mark& mark) const {
        return {std::string(file_), static_cast<std::size_t>(std::max(0, mark.line)) + 1,
                static_cast<std::size_t>(std::max(0, mark.column)) + 1, 1};
    }

    // What every kind of node is checked for. A node's mark stands before its tag and anchor.
    void check_node(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (++events_ > limits_.events)
            refuse(location(mark), fmt::format("more than {} values: the file is too large", limits_.events),
                   {});
        if (anchor != YAML::NullAnchor) refuse_anchor(mark, {});
        if (first(mark) == '!' || (tag != "?" && tag != "!" && !tag.empty()))
            refuse(location(mark), "a tag ('!'): this file format has none",
                   "delete the tag, or quote the value");
    }

    // yaml-cpp drops what stands behind the closing quote, or takes it for the next token.
    void check_quoted(std::size_t start, Location& where) const {
        const auto end = end_of_quoted(source_, start);
        if (end == std::string_view::npos)  // yaml-cpp takes the end of the file for the closing quote
            refuse(where, "a quoted value has no closing quote", "close the quote");
        const auto newline = source_.find('\n', start);
        where.length = std::min(end, newline) - start;
        const auto next = source_.find_first_not_of(" \t", end);
        if (next == std::string_view::npos || rest_is_blank(source_, end)) return;
        const bool flow = !stack_.empty() && stack_.back().flow;
        if (source_[next] == ':' ||
            (flow && std::string_view(",]}").find(source_[next]) != std::string_view::npos))
            return;
        refuse(location_at(source_, next, file_), "unexpected text after the closing quote",
               "delete the text, or put it inside the quotes");
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              YAML::EmitterStyle::value style, Node::Kind kind, char bracket) {
        check_node(mark, tag, anchor);
        const auto where = location(mark);
        if (stack_.size() >= limits_.depth)
            refuse(where, fmt::format("nested more than {} deep", limits_.depth), "flatten the file");
        if (!stack_.empty() && stack_.back().node.kind == Node::Kind::map && !stack_.back().key)
            refuse(where, "a list or map as a key: keys are words", "write a word before the ':'");
        const bool inside_flow = !stack_.empty() && stack_.back().flow;
        const bool flow = style == YAML::EmitterStyle::Flow;
        if (flow && !inside_flow && first(mark) == bracket) {
            if (auto problem = check_flow(source_, offset(mark)))
                refuse(location_at(source_, problem->offset, file_), problem->message, problem->fix);
        }
        Frame frame;
        frame.node.kind = kind;
        frame.node.where = where;
        frame.flow = flow || inside_flow;
        stack_.push_back(std::move(frame));
    }

    void close() {
        Node node = std::move(stack_.back().node);
        stack_.pop_back();
        add(std::move(node));
    }

    void add(Node node) {
        if (stack_.empty()) {
            root = std::move(node);
            return;
        }
        Frame& frame = stack_.back();
        if (frame.node.kind == Node::Kind::sequence) {
            frame.node.items.push_back(std::move(node));
        } else if (frame.key) {
            frame.node.members.push_back({std::move(*frame.key), std::move(node)});
            frame.key.reset();
        } else {
            frame.key = checked_key(frame, std::move(node));
        }
    }

    static Node checked_key(Frame& frame, Node key) {
        if (key.kind != Node::Kind::scalar)
            refuse(key.where, "a key is missing before the ':'", "write a word before the ':'");
        if (key.text == "<<" && !key.quoted)
            refuse(key.where, "a merge key ('<<'): this file format has none", "write the members out");
        const auto [known, inserted] = frame.keys.try_emplace(key.text, key.where);
        if (!inserted)
            refuse(key.where,
                   fmt::format("the key \"{}\" appears twice: first at {}:{}", shortened(key.text),
                               known->second.line, known->second.column),
                   "delete one of the two, or join them");
        return key;
    }

    std::string_view source_;
    std::string_view file_;
    Limits limits_;
    std::vector<Frame> stack_;
    std::size_t events_ = 0;
    int documents_ = 0;
};

// yaml-cpp names the place where it gave up. For a collection that never ends that is the end of the file,
// which helps nobody: then the place where it starts is named.
Diagnostic explained(const YAML::Exception& exception, const Builder& builder, std::string_view source,
                     std::string_view file) {
    const auto words = in_our_words(exception.msg);
    auto diagnostic = Diagnostic::error(words.message, {std::string(file), 1, 1, 1}).with_fix(words.fix);
    if (exception.mark.is_null()) return diagnostic;
    const auto at = std::min(static_cast<std::size_t>(std::max(0, exception.mark.pos)), source.size());
    const auto open = builder.innermost_open();
    const bool unclosed = open && words.unclosed;
    const bool at_end = source.find_first_not_of(" \t\n", at) == std::string_view::npos;
    diagnostic.where = unclosed && at_end ? *open : location_at(source, at, file);
    if (unclosed && !at_end)
        diagnostic.notes.push_back(fmt::format("it starts at {}:{}", open->line, open->column));
    return diagnostic;
}

}  // namespace

const Member* Node::member(std::string_view key) const {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.first.text == key; });
    return found == members.end() ? nullptr : &*found;
}

const Node* Node::find(std::string_view key) const {
    const auto* found = member(key);
    return found == nullptr ? nullptr : &found->second;
}

Result<Node> parse(std::string_view text, std::string_view file_name, const Limits& limits) {
    CM_TRY_ASSIGN(const std::string source, prepared(text, file_name, limits));
    Builder builder(source, file_name, limits);
    try {
        std::istringstream stream(source);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (Refusal& refusal) {
        return Failure{ExitCode::bad_input, {std::move(refusal.diagnostic)}};
    } catch (const YAML::Exception& exception) {
        return Failure{ExitCode::bad_input, {explained(exception, builder, source, file_name)}};
    } catch (const std::exception& exception) {
        return Failure{ExitCode::bad_input,
                       {Diagnostic::error(fmt::format("the file cannot be parsed: {}", exception.what()),
                                          {std::string(file_name), 0, 0, 1})}};
    }
    if (builder.root.where.line == 0) builder.root.where = {std::string(file_name), 1, 1, 1};
    return std::move(builder.root);
}

}  // namespace cudamatrix::yaml
