#include "knowledge/solve/variable.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

struct Column {
    std::string_view table, column;
};

// Every release of a driver that some fact names: what "driver >= X" can say without inventing an X.
constexpr std::array kDriverColumns{Column{"driver_branches", "newest"}, Column{"driver_branches", "oldest"},
                                    Column{"cuda_families", "min_driver_linux"},
                                    Column{"cuda_releases", "min_driver_linux"},
                                    Column{"cuda_releases", "bundled_driver_linux"}};

// 124 of "cu124".
int number_in(std::string_view variant) {
    int number = 0;
    for (const char c : variant) {
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    }
    return number;
}

// Whether `a` is newer than `b`. The CUDA of a wheel decides between builds of one release.
bool newer(const Variable& variable, const Value& a, const Value& b) {
    if (!variable.package.empty()) {
        const auto x = pep440::Version::parse(a.text), y = pep440::Version::parse(b.text);
        return x && y && *x > *y;
    }
    const auto x = version_of(variable.field, a.text), y = version_of(variable.field, b.text);
    if (!x || !y) return x.has_value() && !y.has_value();
    if (*x != *y) return *x > *y;
    if (variable.field == Field::torch) return number_in(x->suffix()) > number_in(y->suffix());
    return x->suffix() < y->suffix();  // 3.13 before 3.13t
}

std::vector<std::string> column(const Facts& facts, std::string_view table, std::string_view name) {
    std::vector<std::string> out;
    for (const auto& row : facts.rows(table)) {
        if (row.has(name)) out.emplace_back(row.text(name));
    }
    return out;
}

std::vector<std::string> drivers(const Facts& facts) {
    std::vector<std::string> out;
    for (const auto& [table, name] : kDriverColumns) {
        for (auto& text : column(facts, table, name)) {
            const auto known = lookup::driver(facts, text);
            if (known && known->branch) out.push_back(std::move(text));
        }
    }
    return out;
}

std::string build_text(const Row& wheel) {
    return fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"));
}

std::vector<std::string> torch_builds(const Facts& facts) {
    std::vector<std::string> out;
    for (const auto& row : facts.rows("torch_wheels")) {
        if (row.has("cuda")) out.push_back(build_text(row));
    }
    return out;
}

std::set<std::string, std::less<>> yanked_builds(const Facts& facts) {
    std::set<std::string, std::less<>> out;
    for (const auto& row : facts.rows("torch_wheels")) {
        if (lookup::is_yanked_build(facts, row)) out.insert(build_text(row));
    }
    return out;
}

// By compute capability, the newest first; the order within one is that of the names.
std::vector<std::string> gpus(const Facts& facts) {
    const auto all = facts.rows("gpus");
    std::vector<Row> rows(all.begin(), all.end());
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        const auto x = Version::parse(a.text("compute")), y = Version::parse(b.text("compute"));
        if (!x || !y || *x == *y) return a.text("name") < b.text("name");
        return *x > *y;
    });
    std::vector<std::string> out;
    for (const auto& row : rows)
        out.emplace_back(row.text("name"));
    return out;
}

std::vector<std::string> texts_of(const Facts& facts, Field field) {
    switch (field) {
        case Field::driver:
            return drivers(facts);
        case Field::gpu:
            return gpus(facts);
        case Field::torch:
            return torch_builds(facts);
        case Field::cuda:
            return column(facts, "cuda_releases", "cuda");
        case Field::python:
            return column(facts, "pythons", "python");
        case Field::os: {
            auto out = column(facts, "operating_systems", "os");
            std::reverse(out.begin(), out.end());  // the newest of each family is the last
            return out;
        }
        default:
            return info(field).choices;
    }
}

bool is_ordered(Field field) {
    return compares_as_version(field) || field == Field::gpu;
}

}  // namespace

std::optional<std::uint32_t> Variable::find(std::string_view text) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] && values[i]->text == text) return static_cast<std::uint32_t>(i);
    }
    return std::nullopt;
}

bool Variable::is_yanked(std::uint32_t index) const {
    return !yanked.empty() && values[index] && yanked.contains(values[index]->text);
}

std::optional<std::uint32_t> Variable::nothing() const {
    const auto at = std::find(values.begin(), values.end(), std::nullopt);
    if (at == values.end()) return std::nullopt;
    return static_cast<std::uint32_t>(at - values.begin());
}

std::uint32_t Variable::add(Value value) {
    if (const auto known = find(value.text)) return *known;
    auto at = values.end();
    if (ordered && field != Field::gpu) {
        at = std::find_if(values.begin(), values.end(), [&](const std::optional<Value>& other) {
            return !other || newer(*this, value, *other);
        });
    }
    const auto index = static_cast<std::uint32_t>(at - values.begin());
    values.insert(at, std::move(value));
    return index;
}

void Variable::insert(std::uint32_t at, Value value) {
    values.insert(values.begin() + at, std::move(value));
}

Domains without_yanked(const std::vector<Variable>& variables, Domains domains) {
    for (std::size_t i = 0; i < domains.size(); ++i) {
        const auto& variable = variables[i];
        if (variable.yanked.empty()) continue;
        const bool others = std::any_of(domains[i].begin(), domains[i].end(), [&](std::uint32_t value) {
            return variable.values[value] && !variable.is_yanked(value);
        });
        if (others) std::erase_if(domains[i], [&](std::uint32_t value) { return variable.is_yanked(value); });
    }
    return domains;
}

Domains yanked_last(const std::vector<Variable>& variables, Domains domains) {
    for (std::size_t i = 0; i < domains.size(); ++i) {
        std::stable_partition(domains[i].begin(), domains[i].end(),
                              [&](std::uint32_t value) { return !variables[i].is_yanked(value); });
    }
    return domains;
}

Variable variable_of(const Facts& facts, Field field) {
    Variable variable{.field = field, .ordered = is_ordered(field)};
    std::set<std::string, std::less<>> seen;
    for (const auto& text : texts_of(facts, field)) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<Value>(value) && seen.insert(text).second)
            variable.values.emplace_back(std::get<Value>(std::move(value)));
    }
    if (field == Field::torch) variable.yanked = yanked_builds(facts);
    if (variable.ordered && field != Field::gpu) {
        std::stable_sort(variable.values.begin(), variable.values.end(),
                         [&](const auto& a, const auto& b) { return newer(variable, *a, *b); });
    }
    return variable;
}

Variable variable_of_package(const Facts& facts, std::string_view package) {
    Variable variable{.field = Field::packages, .package = std::string(package), .ordered = true};
    const auto name = pep440::canonical_name(package);
    for (const auto& release : facts.package_releases(name)) {
        Value value;
        value.text = release.text;
        if (lookup::is_yanked(release.row)) variable.yanked.insert(value.text);
        if (!variable.find(value.text)) variable.values.emplace_back(std::move(value));
    }
    std::stable_sort(variable.values.begin(), variable.values.end(),
                     [&](const auto& a, const auto& b) { return newer(variable, *a, *b); });
    return variable;
}

std::vector<std::string> package_names(const Facts& facts) {
    std::set<std::string, std::less<>> names;
    for (const auto& table : facts.tables()) {
        for (const auto& row : table.rows) {
            // A package of an archive (toolkit_sources) is none of the Python index.
            if (row.has("package") && table.name != "toolkit_sources") names.emplace(row.text("package"));
        }
    }
    return {names.begin(), names.end()};
}

namespace {

// Values have passed the allow-list of their field: none holds a control character.
std::string yaml_quoted(std::string_view text) {
    return fmt::format("\"{}\"", text::replace_all(text::replace_all(text, "\\", "\\\\"), "\"", "\\\""));
}

std::string value_text(const FieldInfo& field, const Value& value) {
    if (field.syntax != Syntax::string_map && (field.syntax != Syntax::name_list || value.items.empty()))
        return yaml_quoted(value.text);
    std::vector<std::string> parts;
    const bool is_map = field.syntax == Syntax::string_map;
    for (const auto& [name, text] : value.items)
        parts.push_back(is_map ? fmt::format("{}: {}", name, yaml_quoted(text)) : yaml_quoted(name));
    const auto joined = text::join(parts, ", ");
    return is_map ? "{" + joined + "}" : "[" + joined + "]";
}

}  // namespace

std::string row_text(const Cell& cell) {
    std::vector<std::string> parts;
    for (const auto& field : all_fields()) {
        if (const auto* value = cell.get(field.field))
            parts.push_back(fmt::format("{}: {}", field.name, value_text(field, *value)));
    }
    return "{" + text::join(parts, ", ") + "}";
}

}  // namespace cudamatrix::solve
