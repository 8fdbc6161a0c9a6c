// pyproject.toml, uv.lock and poetry.lock. The only user of toml++.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/sources/readers.hpp"
#include "advise/sources/requirements.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

// What is not ASCII means nothing here, and toml++ 3.3 runs into undefined behaviour by some of it (a bare
// U+00A1, found by fuzzing). Bytes stay where they are, so that columns count them.
std::string in_ascii(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::string out(text);
    if (text.starts_with(kByteOrderMark)) out.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) > 0x7F; }, '?');
    return out;
}

class TomlReader {
  public:
    explicit TomlReader(Source& out) : out_(out), file_(out.text, out.path) {}

    void read() {
        const auto plain = in_ascii(out_.text);
        const auto result = toml::parse(std::string_view(plain), std::string_view(out_.path));
        if (!result) {
            const auto& begin = result.error().source().begin;
            out_.skipped.push_back({{out_.path, begin.line, begin.column, 1},
                                    "the file",
                                    std::string(result.error().description())});
            return;
        }
        const auto& document = result.table();
        if (out_.kind == Kind::pyproject) {
            project(document);
        } else {
            locked(document);
        }
        if (stage_.steps.empty()) return;
        out_.stages.push_back(std::move(stage_));
    }

  private:
    [[nodiscard]] Location where(const toml::node& node) const {
        const auto& source = node.source();
        const auto length = source.begin.line == source.end.line && source.end.column > source.begin.column
                                ? source.end.column - source.begin.column
                                : 1;
        return {out_.path, source.begin.line, source.begin.column, length};
    }

    static std::string text_of(const toml::table& table, std::string_view key) {
        return table[key].value_or(std::string());
    }

    // The packages of a lock file.
    void locked(const toml::table& document) {
        const auto* packages = document["package"].as_array();
        if (packages == nullptr) return;
        PipInstall install;
        install.tool = out_.kind == Kind::uv_lock ? "uv" : "poetry";
        install.locked = true;
        const auto wanted = reachable(*packages);
        std::map<std::string, int> times;
        for (const auto& item : *packages) {
            const auto* package = item.as_table();
            if (package == nullptr) continue;
            const auto name = text::normalised_project(text_of(*package, "name"));
            const auto version = text_of(*package, "version");
            const auto* source = (*package)["source"].as_table();
            const bool of_index =
                source == nullptr || source->contains("registry") || source->contains("url");
            if (name.empty() || version.empty() || !of_index || (*package)["optional"].value_or(false))
                continue;
            if (!wanted.empty() && !wanted.contains(name)) continue;
            Requirement requirement;
            requirement.name = name;
            requirement.specifier = "==" + version;
            requirement.where = where(*package->get("version"));
            requirement.marker = markers(*package);
            ++times[name];
            install.requirements.push_back(std::move(requirement));
        }
        // Which of several is installed depends on the machine or on extras.
        for (const auto& one : times) {
            if (one.second == 1) continue;
            const auto& name = one.first;
            const auto first = std::ranges::find(install.requirements, name, &Requirement::name);
            out_.skipped.push_back({first->where, name,
                                    "the lock holds several releases of it, for several machines or extras"});
            std::erase_if(install.requirements, [&](const Requirement& other) { return other.name == name; });
        }
        finish(std::move(install));
    }

    // What the project itself depends on, at any depth, without its extras and groups. Empty: the lock does
    // not say.
    static std::set<std::string> reachable(const toml::array& packages) {
        std::map<std::string, std::vector<std::string>> needs;
        std::vector<std::string> open;
        for (const auto& item : packages) {
            const auto* package = item.as_table();
            if (package == nullptr) continue;
            const auto name = text::normalised_project(text_of(*package, "name"));
            auto& list = needs[name];
            if (const auto* dependencies = (*package)["dependencies"].as_array()) {
                for (const auto& dependency : *dependencies) {
                    if (const auto* table = dependency.as_table())
                        list.push_back(text::normalised_project(text_of(*table, "name")));
                }
            }
            const auto* source = (*package)["source"].as_table();
            if (source != nullptr && (source->contains("virtual") || source->contains("editable")))
                open.push_back(name);
        }
        std::set<std::string> out;
        while (!open.empty()) {
            const auto name = std::move(open.back());
            open.pop_back();
            if (!out.insert(name).second) continue;
            const auto found = needs.find(name);
            if (found != needs.end()) open.insert(open.end(), found->second.begin(), found->second.end());
        }
        return out;
    }

    // uv: alternatives; poetry: one text, or one for each group.
    static std::string markers(const toml::table& package) {
        std::string out;
        const auto add = [&](const std::string& marker) {
            if (!marker.empty()) out += (out.empty() ? "(" : " or (") + marker + ")";
        };
        if (const auto* list = package["resolution-markers"].as_array()) {
            for (const auto& marker : *list)
                add(marker.value_or(std::string()));
        }
        add(text_of(package, "markers"));
        return out;
    }

    void project(const toml::table& document) {
        PipInstall install;
        install.tool = "uv";
        read_indexes(document, install);
        if (const auto* project = document["project"].as_table()) {
            add_list((*project)["dependencies"].as_array(), install);
        }
        const auto poetry = document["tool"]["poetry"];
        add_poetry(poetry["dependencies"].as_table(), install);
        for (auto& [name, own] : of_index_)
            finish(std::move(own));
        finish(std::move(install));
    }

    struct NamedIndex {
        Index index;
        bool only_named = false;  // it serves those packages alone that name it
    };

    void read_indexes(const toml::table& document, PipInstall& install) {
        const auto add = [&](const toml::array* list, std::string_view only_named) {
            if (list == nullptr) return;
            for (const auto& item : *list) {
                const auto* table = item.as_table();
                if (table == nullptr || !table->contains("url")) continue;
                const auto* url = table->get("url");
                const bool is_default = (*table)["default"].value_or(false) ||
                                        text_of(*table, "priority") == "default" ||
                                        text_of(*table, "priority") == "primary";
                NamedIndex index{{is_default ? IndexKind::index : IndexKind::extra,
                                  url->value_or(std::string()), where(*url)},
                                 false};
                index.only_named =
                    (*table)["explicit"].value_or(false) || text_of(*table, "priority") == only_named;
                if (!index.only_named) install.indexes.push_back(index.index);
                indexes_[text_of(*table, "name")] = std::move(index);
            }
        };
        const auto uv = document["tool"]["uv"];
        install.index_strategy = uv["index-strategy"].value_or(std::string());
        add(uv["index"].as_array(), {"-"});
        add(document["tool"]["poetry"]["source"].as_array(), "explicit");
        if (const auto* sources = uv["sources"].as_table()) {
            for (const auto& [key, value] : *sources) {
                const auto* one = value.as_table();
                if (const auto* list = value.as_array(); list != nullptr && list->size() == 1)
                    one = (*list)[0].as_table();
                if (one != nullptr) index_of_[text::normalised_project(key.str())] = text_of(*one, "index");
                if (one == nullptr) ambiguous_[text::normalised_project(key.str())] = where(value);
            }
        }
    }

    void add_list(const toml::array* list, PipInstall& install) {
        if (list == nullptr) return;
        for (const auto& item : *list) {
            const auto text = item.value_or(std::string());
            if (auto requirement = requirement_from(text, where(item)))
                add(*std::move(requirement), {}, install);
        }
    }

    void add_poetry(const toml::table* table, PipInstall& install) {
        if (table == nullptr) return;
        for (const auto& [key, value] : *table) {
            if (key.str() == "python") continue;
            Requirement requirement;
            requirement.name = text::normalised_project(key.str());
            requirement.where = where(value);
            const auto* detail = value.as_table();
            const auto version =
                detail != nullptr ? text_of(*detail, "version") : value.value_or(std::string());
            if (detail != nullptr) {
                requirement.url = text_of(*detail, "url");
                requirement.marker = text_of(*detail, "markers");
            }
            if (version.empty() && requirement.url.empty()) continue;
            requirement.specifier = specifier_of_poetry(version);
            add(std::move(requirement), detail != nullptr ? text_of(*detail, "source") : std::string(),
                install);
        }
    }

    // "^2.1.0", "~2.1", "2.1.0", ">=2,<3" as PEP 440 says them.
    static std::string specifier_of_poetry(std::string_view text) {
        if (text.empty() || text == "*") return {};
        const bool caret = text[0] == '^';
        if (!caret && !(text[0] == '~' && !text.starts_with("~=")))
            return (text::is_digit(text[0]) ? "==" : "") + text::replace_all(text, " ", "");
        const auto number = text.substr(1);
        const auto parts = text::split(number, '.');
        const auto major = parts[0];
        const bool plain =
            text::only(major, "") && !major.empty() && major.size() < 6 && text::is_digit(major[0]);
        if (!plain || parts.size() > 4) return ">=" + std::string(number);
        if (caret && major != "0") return fmt::format(">={},<{}", number, std::stoul(major) + 1);
        return parts.size() > 1 ? fmt::format(">={},=={}.{}.*", number, parts[0], parts[1])
                                : ">=" + std::string(number);
    }

    void add(Requirement requirement, std::string index, PipInstall& install) {
        if (const auto found = index_of_.find(requirement.name); found != index_of_.end() && index.empty())
            index = found->second;
        if (const auto found = ambiguous_.find(requirement.name); found != ambiguous_.end()) {
            out_.skipped.push_back({requirement.where, requirement.name,
                                    "which of its indexes serves it depends on extras or the system"});
            return;
        }
        const auto named = indexes_.find(index);
        if (index.empty() || named == indexes_.end()) {
            install.requirements.push_back(std::move(requirement));
            return;
        }
        auto& own = of_index_[index];
        own.tool = install.tool;
        own.indexes = {named->second.index};
        own.indexes[0].kind = IndexKind::index;
        own.requirements.push_back(std::move(requirement));
    }

    void finish(PipInstall install) {
        if (install.requirements.empty()) return;
        install.where = install.requirements.front().where;
        if (stage_.where.line == 0) stage_.where = install.where;
        stage_.steps.emplace_back(std::move(install));
    }

    Source& out_;
    FileText file_;
    Stage stage_;
    std::map<std::string, NamedIndex, std::less<>> indexes_;
    std::map<std::string, std::string> index_of_;  // packages that name one
    std::map<std::string, Location> ambiguous_;    // packages that name several
    std::map<std::string, PipInstall> of_index_;
};

}  // namespace

Source read_toml(Kind kind, std::string path, std::string text) {
    Source out{std::move(path), std::move(text), kind, {}, {}, {}};
    TomlReader(out).read();
    return out;
}

}  // namespace cudamatrix::sources
