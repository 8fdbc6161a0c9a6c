#include "matrix/reader.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

std::string did_you_mean_fix(std::string_view word, const std::vector<std::string>& known) {
    return text::did_you_mean_or(word, known, fmt::format("use one of: {}", text::join(known, ", ")));
}

bool is_path(std::string_view path, std::string_view steps) {
    constexpr std::size_t longest = 200;
    if (path.size() > longest || !text::only(path, "/_.+-")) return false;
    const auto all = text::split(steps, '/');
    return std::none_of(all.begin(), all.end(), [](const std::string& step) {
        return step.empty() || step == "." || step == ".." || step.front() == '-';
    });
}

}  // namespace

std::string_view kind_name(Node::Kind kind) {
    static constexpr std::array<std::string_view, 4> names{"nothing", "a single value", "a list", "a map"};
    return names[static_cast<std::size_t>(kind)];
}

std::string found_text(const Node& node) {
    return node.kind == Node::Kind::scalar ? in_quotes(node.text) : std::string(kind_name(node.kind));
}

std::string place(const Location& where) {
    return fmt::format("{}:{}", where.line, where.column);
}

bool before(const Location& a, const Location& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

Failure first_hundred(std::vector<Diagnostic> problems) {
    constexpr std::size_t most = 100;
    if (problems.size() > most) {
        const auto more = problems.size() - most;
        problems.resize(most);
        problems.back().notes.push_back(fmt::format("and {} not shown", text::count(more, "more mistake")));
    }
    return Failure{ExitCode::bad_input, std::move(problems)};
}

void Reader::error(const Location& where, std::string message, std::string fix) {
    problems.push_back(Diagnostic::error(std::move(message), where).with_fix(std::move(fix)));
}

void Reader::warning(const Location& where, std::string message, std::string fix) {
    matrix.warnings.push_back(Diagnostic::warning(std::move(message), where).with_fix(std::move(fix)));
}

bool Reader::expect(const Node& key, const Node& node, Node::Kind kind, std::string_view accepts) {
    if (node.kind == kind) return true;
    error(node.kind == Node::Kind::null ? key.where : node.where,
          fmt::format("{}: found {}, expected {}", key.kind == Node::Kind::scalar ? key.text : "item",
                      kind_name(node.kind), accepts));
    return false;
}

bool Reader::first_time(std::map<std::string, Location>& seen, const std::string& word, const Location& where,
                        std::string_view what, std::string fix) {
    const auto [first, fresh] = seen.try_emplace(word, where);
    if (!fresh) error(where, fmt::format("{}: first at {}", what, place(first->second)), std::move(fix));
    return fresh;
}

std::optional<Field> Reader::field(const Node& key) {
    if (const auto found = field_named(key.text)) return found;
    // A file of nothing but mistakes is cut after a hundred of them: no guesses for the rest.
    constexpr std::size_t most_guesses = 1000;
    error(key.where, fmt::format("unknown field {}", in_quotes(key.text)),
          problems.size() < most_guesses ? did_you_mean_fix(key.text, field_names()) : "");
    return std::nullopt;
}

void Reader::unknown_key(const Node& key, std::string_view what, const std::vector<std::string>& known) {
    error(key.where, fmt::format("{} has no key {}", what, in_quotes(key.text)),
          did_you_mean_fix(key.text, known));
}

std::optional<Value> Reader::value(Field field, const Node& key, const Node& node) {
    const FieldInfo& about = info(field);
    if (about.syntax == Syntax::string_map && node.kind == Node::Kind::map) return map_value(field, node);
    if (about.syntax == Syntax::name_list && node.kind == Node::Kind::sequence)
        return list_value(field, node);
    if (node.kind != Node::Kind::scalar || about.syntax == Syntax::string_map) {
        const bool absent = node.kind == Node::Kind::null;
        error(absent ? key.where : node.where,
              fmt::format("{}: found {}, expected {}", about.name, kind_name(node.kind), about.accepts),
              absent ? "write a value, or delete the key" : "");
        return std::nullopt;
    }
    const auto meaning = meant(field, node.text, node.where);
    const auto& text = meaning.empty() ? node.text : meaning;
    if (auto problem = check_scalar(field, text)) {
        if (node.text.starts_with('<') || node.text.starts_with('>'))
            problem->fix = "ranges are allowed in conditions only (exclude, when, require)";
        error(node.where, std::move(problem->message), std::move(problem->fix));
        return std::nullopt;
    }
    Value value{text, node.where, {}};
    if (about.syntax == Syntax::name_list) value.items.emplace_back(text, "");
    return value;
}

std::string Reader::meant(Field field, std::string_view text, const Location& where) {
    auto meaning = usual_spelling(field, text);
    if (meaning.empty() && names) meaning = names(field, text);
    if (meaning.empty() || meaning == text || check_scalar(field, meaning)) return {};
    matrix.respelt.push_back({field, std::string(text), meaning, where});
    return meaning;
}

std::optional<Value> Reader::list_value(Field field, const Node& node) {
    const auto before = problems.size();
    Value value{{}, node.where, {}};
    for (const auto& item : node.items) {
        if (item.kind != Node::Kind::scalar) {
            error(item.where,
                  fmt::format("{}: found {}, expected a name", info(field).name, kind_name(item.kind)));
        } else if (auto problem = check_scalar(field, item.text)) {
            error(item.where, std::move(problem->message), std::move(problem->fix));
        } else {
            value.items.emplace_back(item.text, "");
        }
    }
    if (node.items.empty())
        error(node.where,
              fmt::format("{}: found an empty list, expected {}", info(field).name, info(field).accepts));
    if (problems.size() != before) return std::nullopt;
    set_text_from_items(value, Syntax::name_list);
    return value;
}

std::optional<Value> Reader::map_value(Field field, const Node& node) {
    const auto before = problems.size();
    Value value{{}, node.where, {}};
    for (const auto& [name, member] : node.members) {
        if (member.kind != Node::Kind::scalar) {
            error(member.kind == Node::Kind::null ? name.where : member.where,
                  fmt::format("{}: found {} for {}, expected a single value", info(field).name,
                              kind_name(member.kind), in_quotes(name.text)));
        } else if (auto problem = check_member(field, name.text, member.text)) {
            error(name.where, std::move(problem->message), std::move(problem->fix));
        } else {
            value.items.emplace_back(name.text, member.text);
        }
    }
    if (node.members.empty())
        error(node.where,
              fmt::format("{}: found an empty map, expected {}", info(field).name, info(field).accepts));
    if (problems.size() != before) return std::nullopt;
    set_text_from_items(value, Syntax::string_map);
    return value;
}

bool is_truth_value(std::string_view text) {
    return text == "true" || text == "false";
}

bool Entry::is_map(std::string_view example) const {
    if (node_.kind == Node::Kind::map && !node_.members.empty()) return true;
    reader_.error(
        node_.kind == Node::Kind::null ? key_.where : node_.where,
        fmt::format("{}: found {}, expected a map such as {}", key_.text,
                    node_.kind == Node::Kind::map ? "an empty map" : kind_name(node_.kind), example));
    return false;
}

void Entry::refuse_keys_beside(const std::vector<std::string>& known) const {
    for (const auto& [name, member] : node_.members) {
        if (std::find(known.begin(), known.end(), name.text) == known.end())
            reader_.unknown_key(name, fmt::format("an entry of {}", key_.text), known);
    }
}

const yaml::Member* Entry::find(std::string_view name) const {
    return node_.member(name);
}

const yaml::Member* Entry::required(std::string_view name, std::string_view why) const {
    const auto* member = find(name);
    if (member == nullptr)
        reader_.error(node_.where, fmt::format("{}: {} is missing: {}", key_.text, name, why),
                      fmt::format("write {}:", name));
    return member;
}

std::string Entry::sentence(const yaml::Member* member) const {
    constexpr std::size_t longest = 500;
    if (member == nullptr) return {};
    return scalar(*member, "a reason on one line", [](std::string_view text) {
        return !text::trim(text).empty() && text.size() <= longest &&
               text.find('\n') == std::string_view::npos;
    });
}

Condition Entry::condition(std::string_view name, std::string_view empty_means) const {
    const auto* member = find(name);
    return member == nullptr ? Condition{{}, node_.where}
                             : read_condition(reader_, member->first, member->second, empty_means);
}

std::vector<Word> Entry::words(const yaml::Member& member, const ListForm& form) const {
    const auto& [name, node] = member;
    std::vector<Word> out;
    if (!reader_.expect(name, node, Node::Kind::sequence, form.list)) return out;
    if (node.items.empty())
        reader_.error(node.where, fmt::format("{}: found an empty list, expected {}", name.text, form.list),
                      "write an item, or delete the key");
    std::map<std::string, Location> seen;
    for (const auto& item : node.items) {
        if (item.kind != Node::Kind::scalar || !form.accepts(item.text)) {
            reader_.error(item.where,
                          fmt::format("{}: found {}, expected {}", name.text, found_text(item), form.item));
        } else if (form.repeated ||
                   reader_.first_time(seen, item.text, item.where,
                                      fmt::format("{}: {} appears twice", name.text, in_quotes(item.text)),
                                      "delete one of the two")) {
            out.push_back({item.text, item.where});
        }
    }
    return out;
}

void Entry::variables(std::string_view name, std::vector<Variable>& out) const {
    const auto* member = find(name);
    if (member == nullptr) return;
    const auto& [key, node] = *member;
    if (!reader_.expect(key, node, Node::Kind::map, "a map such as {HF_HOME: /cache}")) return;
    for (const auto& [variable, value] : node.members) {
        if (!reader_.expect(variable, value, Node::Kind::scalar, "a single value")) continue;
        if (auto problem = check_member(Field::env, variable.text, value.text)) {
            constexpr std::string_view field = "env";  // check_member speaks of the field of a cell
            reader_.error(variable.where, key.text + problem->message.substr(field.size()),
                          std::move(problem->fix));
        } else if (!is_rendered_variable(variable.text, value.text)) {
            reader_.error(
                variable.where,
                fmt::format("{}: {} {}: expected, of NVIDIA's variables, only NVIDIA_VISIBLE_DEVICES (all, "
                            "none or void) or NVIDIA_DRIVER_CAPABILITIES (capabilities such as "
                            "compute,utility)",
                            key.text, variable.text, in_quotes(value.text)),
                "delete it: the others control a privileged hook on the host");
        } else {
            out.push_back({variable.text, value.text, variable.where});
        }
    }
}

bool is_entry_name(std::string_view text) {
    return !text.empty() && text.size() <= 32 && text.find_first_of("_-") != 0 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

bool is_container_path(std::string_view text) {
    return text.size() > 1 && text.front() == '/' && is_path(text, text.substr(1));
}

bool is_relative_path(std::string_view text) {
    return !text.empty() && is_path(text, text);
}

}  // namespace cudamatrix
