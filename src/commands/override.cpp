#include "commands/common.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "matrix/matrix.hpp"
#include "run/host/host.hpp"
#include "run/host/host_file.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kHere = "here";  // what --host without a file stands for

constexpr std::size_t kLongestGuess = 40;  // a longer word is no slip of the pen
constexpr std::size_t kMostShown = 6;

struct Words {
    Field field;
    std::string_view value;
};

Result<Words> words_of(std::string_view option) {
    const auto label = fmt::format("--override {}", text::printable(option));
    const auto equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return input_failure(fmt::format("{}: expected FIELD=VALUE", label),
                             "write for example --override driver=580");
    }
    const auto name = option.substr(0, equals);
    const auto field = field_named(name);
    if (field) return Words{*field, option.substr(equals + 1)};
    std::vector<std::string> known;
    for (const auto& each : all_fields())
        known.emplace_back(each.name);
    const auto near = name.size() <= kLongestGuess ? text::did_you_mean(name, known) : std::nullopt;
    return input_failure(fmt::format("{}: unknown field \"{}\"", label, text::printable(name)),
                         near ? fmt::format("did you mean {}?", *near)
                              : fmt::format("use one of: {}", text::join(known, ", ")));
}

// "470.161.03, 550.54.15": what the file says of the field, wherever it says it.
std::string values_in(const Matrix& matrix, Field field) {
    std::vector<std::string> values;
    const auto add = [&](const Value& value) {
        if (std::ranges::find(values, value.text) == values.end()) values.push_back(value.text);
    };
    for (const auto& axis : matrix.axes) {
        for (const auto& row : axis.rows) {
            for (std::size_t f = 0; f < row.size(); ++f) {
                if (axis.fields[f] == field) add(row[f]);
            }
        }
    }
    const auto add_named = [&](const std::vector<std::pair<Field, Value>>& pairs) {
        for (const auto& [each, value] : pairs) {
            if (each == field) add(value);
        }
    };
    add_named(matrix.set);
    for (const auto& row : matrix.include)
        add_named(row);
    if (values.size() > kMostShown) {
        const auto more = values.size() - kMostShown;
        values.resize(kMostShown);
        values.push_back(fmt::format("{} more", more));
    }
    return text::join(values, ", ");
}

void say(const Matrix& before, const Words& words, const World& world) {
    const auto file = values_in(before, words.field);
    const auto note = Diagnostic::note(
        fmt::format("{} is {} in every cell (--override); {}", info(words.field).name, words.value,
                    file.empty() ? "the file does not say it" : "the file says " + file));
    tell(note, world);
}

// FIELD=VALUE with the value in words of a matrix file; what is none is left for overridden to refuse.
std::string in_our_words(const std::string& option, const Spelling& spelling) {
    const auto words = words_of(option);
    if (!words.ok()) return option;
    const auto meant = spelling(words->field, words->value);
    return meant.empty() ? option : fmt::format("{}={}", info(words->field).name, meant);
}

}  // namespace

void add_override(const Arguments& app, std::vector<std::string>& overrides) {
    app.add_option("--override", overrides,
                   "As if the field had this value in every cell, whatever the file says; may be repeated")
        .type_name("FIELD=VALUE")
        .one_value_each();
}

Result<Matrix> overridden(const Matrix& matrix, std::string_view option) {
    CM_TRY_ASSIGN(const auto words, words_of(option));
    const auto label = fmt::format("--override {}", option);
    auto changed = with_override(matrix, words.field, words.value, {label, 0, 0, 1});
    if (changed.ok()) return changed;
    auto failure = std::move(changed).failure();
    for (auto& diagnostic : failure.diagnostics)
        diagnostic.where = {label, 0, 0, 1};
    return failure;
}

probe::Machine machine_of(const World& world) {
    return {.environment = world.environment,
            .root = world.root,
            .arch = world.arch,
            .glibc = world.glibc.empty() ? probe::glibc_below(world.root) : world.glibc,
            .cancellation = world.cancellation};
}

void add_hosts(const Arguments& app, std::vector<std::string>& hosts, const std::string& help) {
    app.add_flag(fmt::format("--host{{{}}}", kHere), hosts,
                 help +
                     "; or on those of files that `doctor --format json` wrote: several are a fleet (--host "
                     "fleet/*.json)")
        .type_name("FILE");
}

Result<std::vector<probe::NamedHost>> named_hosts(const std::vector<std::string>& hosts, const World& world) {
    std::vector<probe::NamedHost> out;
    for (const auto& host : hosts) {
        if (host == kHere) {
            out.push_back({"this machine", probe::look_at(machine_of(world))});
            continue;
        }
        CM_TRY_ASSIGN(auto read, probe::read_host_file(host));
        out.push_back({text::printable(host), std::move(read)});
    }
    return out;
}

Status change_values(const MatrixOptions& options, const World& world, Loaded& loaded) {
    if (!options.hosts.empty()) {
        CM_TRY_ASSIGN(const auto hosts, named_hosts(options.hosts, world));
        CM_TRY_ASSIGN(auto changed, probe::on_machines(loaded.matrix, hosts, loaded.facts));
        loaded.matrix = std::move(changed.matrix);
        loaded.host = std::move(changed.info);
    }
    std::set<Field> seen;
    const auto spelling = said_spellings(loaded.facts, world);
    for (const auto& written : options.overrides) {
        const auto option = in_our_words(written, spelling);
        CM_TRY_ASSIGN(auto changed, overridden(loaded.matrix, option));
        const auto words = words_of(option);
        if (!seen.insert(words->field).second) {
            return input_failure(fmt::format("--override {}: {} is overridden twice",
                                             text::printable(written), info(words->field).name),
                                 "keep one of the two");
        }
        say(loaded.matrix, *words, world);
        loaded.matrix = std::move(changed);
    }
    return Done{};
}

}  // namespace cudamatrix
