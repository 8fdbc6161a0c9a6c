// The self-check of the facts: nothing enters a verdict that is not well formed, sourced and dated.

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/ranges.hpp"
#include "knowledge/facts/schema.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix {
namespace {

using facts::Form;
using facts::Kind;

// The value without the suffix that no referred table lists: 3.13 of 3.13t.
std::string plain(Kind kind, std::string_view value) {
    if (kind != Kind::version) return std::string(value);
    const auto version = Version::parse(value);
    return version ? std::string(value.substr(0, value.size() - version->suffix().size()))
                   : std::string(value);
}

class Checker {
  public:
    Checker(std::span<const Table> tables, const std::vector<std::vector<Location>>& where)
        : tables_(tables), where_(where) {}

    std::vector<Diagnostic> run() {
        std::set<std::string_view> ids;
        for (std::size_t t = 0; t < tables_.size(); ++t) {
            const Table& table = tables_[t];
            const auto* schema = facts::schema_of(table.name);
            if (schema == nullptr) {
                found_.push_back(
                    Diagnostic::error(fmt::format("there is no schema for the table '{}'", table.name)));
                continue;
            }
            std::string_view previous;
            for (std::size_t r = 0; r < table.rows.size(); ++r) {
                row_ = &table.rows[r];
                place_ = facts::place_of(table, where_[t][r]);
                const auto id = row_->id();
                if (!ids.insert(id).second) mistake("another row has the same id");
                if (!previous.empty() && !facts::natural_less(previous, id)) {
                    mistake(fmt::format("it comes after '{}': rows are sorted by id, numbers as numbers",
                                        previous));
                }
                previous = id;
                row(*schema);
                if (table.name == "known_problems") known_problem();
                shared_releases();
            }
        }
        return std::move(found_);
    }

  private:
    void mistake(std::string message) {
        found_.push_back(Diagnostic::error(fmt::format("row '{}': {}", row_->id(), message), place_));
    }

    void row(const facts::Schema& schema) {
        const bool unverified = row_->text("confidence") == "unverified";
        std::set<std::string_view> seen;
        for (const auto& column : row_->columns()) {
            if (!seen.insert(column.name).second)
                mistake(fmt::format("column '{}' is there twice", column.name));
            const auto* spec = find(schema, column.name);
            if (spec == nullptr) {
                mistake(fmt::format("table '{}' has no column '{}'", schema.table, column.name));
            } else {
                cells(*spec, column, unverified);
            }
        }
        for (const auto columns : {facts::common_columns(), schema.columns}) {
            for (const auto& spec : columns) {
                if (spec.required && !row_->has(spec.name))
                    mistake(fmt::format("column '{}' is missing", spec.name));
            }
        }
        if (!schema.one_of.empty() && std::none_of(schema.one_of.begin(), schema.one_of.end(),
                                                   [&](std::string_view name) { return row_->has(name); })) {
            mistake(fmt::format("one of its columns {} has to be there",
                                text::join({schema.one_of.begin(), schema.one_of.end()}, ", ")));
        }
        id_form(schema);
    }

    void known_problem() {
        const auto problem = facts::known_problem(*row_);
        if (!problem) return;
        for (auto& each : facts::mistakes_in(*problem))
            mistake(std::move(each));
    }

    void shared_releases() {
        for (const auto each : row_->list("also")) {
            const auto release = fmt::format("{} {}", row_->text("package"), each);
            if (each == row_->text("version") || !shared_.insert(release).second)
                mistake(fmt::format("{} is there twice", release));
        }
    }

    static const facts::Column* find(const facts::Schema& schema, std::string_view name) {
        for (const auto columns : {facts::common_columns(), schema.columns}) {
            for (const auto& spec : columns) {
                const auto wild = spec.name.ends_with('*');
                if (wild ? name.starts_with(spec.name.substr(0, spec.name.size() - 1)) : spec.name == name)
                    return &spec;
            }
        }
        return nullptr;
    }

    void cells(const facts::Column& spec, const Row::Column& column, bool unverified) {
        if ((spec.form == Form::list) != column.is_list && spec.form != Form::either) {
            mistake(fmt::format("column '{}' is a {}, here it is a {}", spec.name,
                                column.is_list ? "single value" : "list",
                                column.is_list ? "list" : "single value"));
            return;
        }
        if (spec.kind == Kind::source) {
            sources(column, unverified);
            return;
        }
        const bool of_field = spec.kind == Kind::condition || spec.kind == Kind::way_out;
        for (const auto value : column.values) {
            if (of_field) {
                if (auto wrong = facts::mistake_in_condition(column.name, value)) {
                    mistake(*std::move(wrong));
                    continue;
                }
                if (!Version::parse(value)) continue;
            }
            if (!facts::is_of(spec.kind, value)) {
                mistake(fmt::format("column '{}' holds '{}': expected {}", spec.name, value,
                                    facts::accepts(spec.kind)));
            } else if (!spec.refers.empty() && !targets(spec.refers).contains(plain(spec.kind, value))) {
                mistake(fmt::format("column '{}' names '{}', which {} does not have", spec.name, value,
                                    spec.refers));
            }
        }
    }

    // What could not be confirmed says so in place of a source, and nothing else may.
    void sources(const Row::Column& column, bool unverified) {
        if (column.values.empty()) mistake("it has no source");
        constexpr std::string_view none = "none found, ";
        for (const auto value : column.values) {
            const bool is_none = value.starts_with(none) && facts::is_date(value.substr(none.size()));
            if (unverified && !is_none) {
                mistake(
                    fmt::format("it is unverified, so its source is 'none found, DATE', not '{}'", value));
            } else if (!unverified && !facts::is_source(value)) {
                mistake(fmt::format("source '{}': expected {}", value, facts::accepts(Kind::source)));
            }
        }
    }

    // Look-ups go by id, so an id says what its row says.
    void id_form(const facts::Schema& schema) {
        std::string expected;
        auto form = schema.id;
        while (!form.empty() && form.front() != '*') {
            if (form.front() == '{') {
                const auto end = form.find('}');
                expected += row_->text(form.substr(1, end - 1));
                form.remove_prefix(end + 1);
            } else {
                expected += form.front();
                form.remove_prefix(1);
            }
        }
        if (row_->has("also")) expected += "-and-others";
        const bool is_free = !form.empty();
        const auto id = row_->id();
        if (is_free ? !(id.starts_with(expected) && id.size() > expected.size()) : id != expected) {
            mistake(fmt::format("its id is made of its columns: expected '{}{}'", expected,
                                is_free ? "NAME" : ""));
        }
    }

    const std::set<std::string, std::less<>>& targets(std::string_view refers) {
        const auto known = targets_.find(refers);
        if (known != targets_.end()) return known->second;
        auto& values = targets_[std::string(refers)];
        const auto dot = refers.find('.');
        for (const auto& table : tables_) {
            if (table.name != refers.substr(0, dot)) continue;
            for (const auto& row : table.rows) {
                for (const auto value : row.list(refers.substr(dot + 1)))
                    values.emplace(value);
            }
        }
        return values;
    }

    std::span<const Table> tables_;
    const std::vector<std::vector<Location>>& where_;
    const Row* row_ = nullptr;
    Location place_;
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> targets_;
    std::set<std::string> shared_;  ///< releases that a row has in common with others
    std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> Facts::check(std::string_view today) const {
    auto found = Checker(store_->tables, store_->where).run();
    auto ranges = facts::check_ranges(store_->tables, store_->where, today);
    found.insert(found.end(), std::make_move_iterator(ranges.begin()), std::make_move_iterator(ranges.end()));
    return found;
}

namespace facts {

// Whether two values, or two rows, speak of the same releases.

namespace {

Kind kind_of(std::string_view table, std::string_view column) {
    for (const auto& each : schema_of(table)->columns) {
        if (each.name == column) return each.kind;
    }
    return Kind::text;
}

// A range of which one end is known is that one release.
std::pair<std::string_view, std::string_view> range(const Row& row, const Side& side) {
    const auto lower = row.text(side.column), upper = row.text(side.upper);
    return {lower.empty() ? upper : lower, upper.empty() ? lower : upper};
}

bool share_a_value(const Row& a, const Row& b, std::string_view column) {
    if (!a.has(column) || !b.has(column)) return a.has(column) == b.has(column);
    const auto values = b.list(column);
    return std::ranges::any_of(a.list(column),
                               [&](auto value) { return std::ranges::count(values, value) != 0; });
}

bool overlap_on(const Side& side, const Row& a, const Row& b, std::string_view table) {
    if (!side.upper.empty()) {
        const auto [from, to] = range(a, side);
        const auto [other_from, other_to] = range(b, side);
        const auto begins = compare(from, other_to), ends = compare(other_from, to);
        return begins && ends && *begins <= 0 && *ends <= 0;
    }
    if (share_a_value(a, b, side.column)) return true;
    if (kind_of(table, side.column) != Kind::specifiers || !a.has(side.column) || !b.has(side.column))
        return false;
    const auto left = pep440::Specifiers::parse(a.text(side.column));
    const auto right = pep440::Specifiers::parse(b.text(side.column));
    return left && right && !left->excludes(*right);
}

std::string shown(const Row& row, const Side& side) {
    if (!side.upper.empty()) {
        const auto [from, to] = range(row, side);
        return fmt::format("{} to {}", from, to);
    }
    const auto values = row.list(side.column);
    return text::join({values.begin(), values.end()}, ", ");
}

}  // namespace

std::optional<int> compare(std::string_view a, std::string_view b) {
    if (is_of(Kind::month, a) && is_of(Kind::month, b)) {
        const auto length = std::min(a.size(), b.size());
        return a.substr(0, length).compare(b.substr(0, length));
    }
    const auto left = Version::parse(a), right = Version::parse(b);
    if (!left || !right) return std::nullopt;
    if (left->covers(*right) || right->covers(*left) || *left == *right) return 0;
    return *left < *right ? -1 : 1;
}

bool overlap(const Row& a, const Row& b, const Apart& apart) {
    return std::ranges::all_of(apart.sides, [&](const Side& side) {
        return side.column.empty() || overlap_on(side, a, b, apart.table);
    });
}

std::string sides(const Row& own, const Row& other, const Apart& apart) {
    std::vector<std::string> out;
    for (const auto& side : apart.sides) {
        if (side.column.empty() || (side.upper.empty() && !own.has(side.column))) continue;
        const auto mine = shown(own, side), theirs = shown(other, side);
        out.push_back(fmt::format("{} {}{}", side.column, mine,
                                  mine == theirs ? std::string() : fmt::format(" beside {}", theirs)));
    }
    return text::join(out, "; ");
}

}  // namespace facts

}  // namespace cudamatrix
