#include "render/templates/template.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix::mustache {
namespace {

constexpr std::size_t kDeepestPartial = 16;

std::string folder_of(std::string_view name) {
    const auto slash = name.rfind('/');
    return slash == std::string_view::npos ? "" : std::string(name.substr(0, slash + 1));
}

}  // namespace

Data::Data(const Data& other) = default;
Data::Data(Data&& other) noexcept = default;
Data& Data::operator=(const Data& other) = default;
Data& Data::operator=(Data&& other) noexcept = default;
Data::~Data() = default;

std::string_view Data::kind() const {
    if (text() != nullptr) return "a text";
    if (truth() != nullptr) return "a boolean";
    return list() != nullptr ? "a list" : "an object";
}

// Walks a tree and writes the output. The scopes are the model and the items of the sections around.
class Filler {
  public:
    Filler(Library& library, std::string folder) : library_(library), folder_(std::move(folder)) {}

    Status fill(const std::vector<Node>& nodes) {
        for (const auto& node : nodes) {
            CM_TRY(fill(node));
        }
        return Done{};
    }

    std::vector<const Data*> scopes;
    std::string out;
    std::vector<Origin> origins;

  private:
    Status fill(const Node& node) {
        switch (node.kind) {
            case Node::Kind::text:
                write(node.text, node.where);
                return Done{};
            case Node::Kind::value:
                return fill_value(node);
            case Node::Kind::partial:
                return fill_partial(node);
            case Node::Kind::section:
            case Node::Kind::inverted:
                return fill_section(node);
        }
        return Done{};
    }

    [[nodiscard]] bool checks() const { return library_.watch_ != nullptr && library_.watch_->check; }

    // `where` is the place of the first character; a literal goes on line by line in its template.
    void write(std::string_view text, const Location& where) {
        if (library_.watch_ != nullptr && library_.watch_->origins) {
            auto line = where.line;
            for (std::size_t i = 0; i < text.size(); ++i) {
                if (i == 0 ? out.empty() || out.back() == '\n' : text[i - 1] == '\n') {
                    origins.push_back({Location{where.file, line, i == 0 ? where.column : 1},
                                       {through_.rbegin(), through_.rend()}});
                }
                if (text[i] == '\n') ++line;
            }
        }
        out += text;
    }

    // In a check the mistake is noted and the filling goes on.
    Status fail(Failure failure) {
        if (!checks()) return failure;
        auto& all = library_.watch_->mistakes;
        for (auto& mistake : failure.diagnostics) {
            const bool known = std::ranges::any_of(all, [&](const Diagnostic& one) {
                return one.where == mistake.where && one.message == mistake.message;
            });
            if (!known) all.push_back(std::move(mistake));
        }
        return Done{};
    }

    Status fill_value(const Node& node) {
        const auto value = find(node);
        if (!value.ok()) return fail(value.failure());
        const auto* text = value.value()->text();
        if (text == nullptr) {
            return fail(error(node, fmt::format("{} is {}: only a text can be written out", node.text,
                                                value.value()->kind())));
        }
        auto escaped = escape(*text, node.context);
        if (const auto* refused = std::get_if<Refused>(&escaped)) {
            // What a check enters against its condition need not have values that can be written.
            if (unwanted_ != 0) return Done{};
            return fail(
                error(node, fmt::format("the value of {} holds {}: \"{}\" cannot be written as {}", node.text,
                                        refused->why, text::printable(std::string_view(*text).substr(0, 80)),
                                        to_string(node.context))));
        }
        write(std::get<std::string>(escaped), node.where);
        return Done{};
    }

    Status fill_section(const Node& node) {
        const auto found = find(node);
        if (!found.ok()) return fail(found.failure());
        const Data& value = *found.value();
        const bool wanted = node.kind == Node::Kind::section;
        if (const auto* truth = value.truth()) {
            if (*truth == wanted) return fill(node.children);
            return checks() ? fill_unwanted(node) : Status(Done{});
        }
        if (const auto* list = value.list()) {
            if (!wanted) return list->empty() ? fill(node.children) : Status(Done{});
            for (const auto& item : *list) {
                CM_TRY(fill_inside(item, node.children));
            }
            return Done{};
        }
        if (value.object() != nullptr && wanted) return fill_inside(value, node.children);
        return fail(error(node, fmt::format("{} is {}: a section needs a boolean, a list{}", node.text,
                                            value.kind(), wanted ? " or an object" : "")));
    }

    Status fill_unwanted(const Node& node) {
        ++unwanted_;
        auto done = fill(node.children);
        --unwanted_;
        return done;
    }

    Status fill_inside(const Data& scope, const std::vector<Node>& children) {
        scopes.push_back(&scope);
        auto done = fill(children);
        scopes.pop_back();
        return done;
    }

    Status fill_partial(const Node& node) {
        const auto name = library_.partial_of(folder_, node.text);
        if (name.empty()) return fail(missing(node));
        // No value nests in itself, so what includes itself has no end.
        const auto again = std::ranges::find(inside_, name);
        if (again != inside_.end()) {
            const auto round = text::join(std::vector<std::string>(again, inside_.end()), " > ");
            return fail(
                error(node, fmt::format("the partial {} includes itself: {} > {}", node.text, round, name)));
        }
        if (through_.size() == kDeepestPartial)
            return fail(error(node, fmt::format("partials are nested deeper than {}", kDeepestPartial)));
        const auto parsed = library_.parsed(name, node.indent);
        if (!parsed.ok()) return fail(parsed.failure());
        through_.push_back(node.where);
        inside_.push_back(name);
        auto done = fill(parsed.value()->nodes);
        inside_.pop_back();
        through_.pop_back();
        return done;
    }

    Failure missing(const Node& node) const {
        std::vector<std::string> known;
        for (const auto& folder : {folder_ + "partials/", std::string("partials/")}) {
            for (const auto& [name, ignored] : library_.files_) {
                if (name.starts_with(folder))
                    known.push_back(name.substr(folder.size(), name.rfind('.') - folder.size()));
            }
        }
        const auto near = text::did_you_mean(node.text, known);
        auto failure = error(node, fmt::format("there is no partial {} ({}partials/{}.mustache)", node.text,
                                               folder_, node.text));
        failure.diagnostics.front().fix = near ? fmt::format("did you mean {}?", *near) : "";
        return failure;
    }

    // The first part of a dotted name is looked for from the inside out, the rest only in what it names.
    Result<const Data*> find(const Node& node) {
        if (node.text == ".") return scopes.back();
        std::string_view rest = node.text;
        const auto next = [&rest] {
            const auto dot = std::min(rest.find('.'), rest.size());
            const auto part = rest.substr(0, dot);
            rest.remove_prefix(std::min(dot + 1, rest.size()));
            return part;
        };
        const auto first = next();
        const Data* value = nullptr;
        for (auto scope = scopes.rbegin(); scope != scopes.rend() && value == nullptr; ++scope)
            value = member(**scope, first);
        while (value != nullptr && !rest.empty())
            value = member(*value, next());
        if (value != nullptr) return value;
        const auto near = text::did_you_mean(node.text, names());
        return unknown(node, near ? fmt::format("did you mean {}?", *near) : std::string());
    }

    static const Data* member(const Data& value, std::string_view name) {
        const auto* object = value.object();
        if (object == nullptr) return nullptr;
        const auto found = object->find(name);
        return found == object->end() ? nullptr : &found->second;
    }

    static void collect(const Data& value, const std::string& prefix, std::vector<std::string>& names) {
        const auto* object = value.object();
        if (object == nullptr) return;
        for (const auto& [name, child] : *object) {
            names.push_back(prefix + name);
            collect(child, prefix + name + ".", names);
        }
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto* scope : scopes)
            collect(*scope, "", all);
        return all;
    }

    static Failure unknown(const Node& node, std::string fix) {
        return {ExitCode::bad_input,
                {Diagnostic::error(fmt::format("there is no value {}", node.text), node.where)
                     .with_fix(std::move(fix))}};
    }

    static Failure error(const Node& node, std::string message) {
        return {ExitCode::bad_input, {Diagnostic::error(std::move(message), node.where)}};
    }

    Library& library_;
    std::string folder_;
    std::vector<Location> through_;    // the partial tags around, outermost first
    std::vector<std::string> inside_;  // their files
    std::size_t unwanted_ = 0;         // sections around that are entered only to be checked
};

Library::Library() = default;
Library::~Library() = default;
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;

Library Library::copy() const {
    Library out;
    out.files_ = files_;
    out.watch_ = watch_;
    return out;
}

void Library::add(std::string name, std::string text, std::string shown) {
    parsed_.clear();
    const bool own = has(name);
    files_[std::move(name)] = {std::move(text), std::move(shown), own, false};
}

bool Library::has(std::string_view name) const {
    return files_.find(name) != files_.end();
}

std::string Library::partial_of(const std::string& folder, const std::string& name) const {
    for (const auto& where : {folder, std::string()}) {
        auto file = where + "partials/" + name + ".mustache";
        if (has(file)) return file;
    }
    return {};
}

std::string Library::hash() const {
    Sha256 digest;
    for (const auto& [name, file] : files_) {
        digest.update(fmt::format("{} {}\n", name, file.text.size())).update(file.text);
    }
    return digest.hex();
}

Result<const Template*> Library::parsed(const std::string& name, const std::string& indent) {
    auto& slot = parsed_[{name, indent}];
    if (slot == nullptr) {
        const auto& file = files_.find(name)->second;
        CM_TRY_ASSIGN(auto tree, parse_template(file.text, file.shown, indent));
        slot = std::make_unique<Template>(std::move(tree));
    }
    return static_cast<const Template*>(slot.get());
}

Result<std::string> Library::fill(std::string_view name, const Data& model) {
    const std::string key(name);
    if (!has(key)) return input_failure(fmt::format("there is no template {}", key));
    const auto tree = parsed(key, "");
    // A check has told the mistakes of the syntax already.
    if (!tree.ok()) return watch_ != nullptr && watch_->check ? Result<std::string>("") : tree.failure();
    Filler filler(*this, folder_of(name));
    filler.scopes.push_back(&model);
    CM_TRY(filler.fill(tree.value()->nodes));
    if (watch_ != nullptr && watch_->origins) watch_->lines[filler.out] = std::move(filler.origins);
    return std::move(filler.out);
}

std::vector<Diagnostic> Library::syntax_mistakes() {
    std::vector<Diagnostic> all;
    for (const auto& [name, file] : files_) {
        const auto tree = parse_template(file.text, file.shown, "");
        if (!tree.ok())
            all.insert(all.end(), tree.failure().diagnostics.begin(), tree.failure().diagnostics.end());
    }
    return all;
}

}  // namespace cudamatrix::mustache
