#include "knowledge/facts/facts.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "knowledge/facts/embedded.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestTable = 16u << 20;

Result<std::vector<std::filesystem::path>> tables_in(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() == ".yaml") found.push_back(it->path());
    }
    if (error) {
        return input_failure(
            fmt::format("the facts folder {} cannot be read: {}", directory.string(), error.message()),
            "name a folder of fact tables, as `cudamatrix facts show` prints them");
    }
    if (found.empty()) {
        return input_failure(fmt::format("the facts folder {} holds no .yaml file", directory.string()),
                             "put a table with the keys table, as_of and rows there, or leave --facts out");
    }
    std::sort(found.begin(), found.end());
    return found;
}

// What the overlay brought in; a mistake of the embedded tables is none of its user's.
std::vector<Diagnostic> mistakes_of_overlay(const Facts& base, const Facts& laid, std::string_view today) {
    auto found = laid.check(today);
    if (found.empty()) return found;
    const auto known = base.check(today);
    std::erase_if(found, [&](const Diagnostic& mistake) {
        return std::any_of(known.begin(), known.end(), [&](const Diagnostic& other) {
            return other.message == mistake.message && other.where == mistake.where;
        });
    });
    return found;
}

}  // namespace

std::string_view to_string(Confidence confidence) {
    switch (confidence) {
        case Confidence::measured:
            return "measured";
        case Confidence::read:
            return "read";
        case Confidence::unverified:
            return "unverified";
    }
    return "unverified";
}

bool Row::has(std::string_view column) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == column; });
}

std::string_view Row::text(std::string_view column) const {
    const auto values = list(column);
    return values.empty() ? std::string_view{} : values.front();
}

facts::Values Row::list(std::string_view column) const {
    for (const auto& candidate : columns_) {
        if (candidate.name == column) return candidate.values;
    }
    return {};
}

bool facts::contains(const Values& values, std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

Confidence Row::confidence() const {
    const auto value = text("confidence");
    if (value == "measured") return Confidence::measured;
    return value == "read" ? Confidence::read : Confidence::unverified;
}

FactRef Row::ref() const {
    const auto sources = list("source");
    return {std::string(id()), std::vector<std::string>(sources.begin(), sources.end()),
            std::string(text("as_of")), confidence()};
}

Facts Facts::embedded() {
    // Built once: the tables are constant, only the vectors of row handles and the indexes are made at run
    // time.
    static const std::shared_ptr<const Store> store = [] {
        auto made = std::make_shared<Store>();
        made->is_embedded = true;
        for (const auto& table : facts::embedded_tables()) {
            Table& out = made->tables.emplace_back(Table{table.name, table.as_of, {}});
            out.rows.reserve(table.rows);
            for (std::uint32_t row = table.first_row; row < table.first_row + table.rows; ++row)
                out.rows.push_back(facts::embedded_row(row));
            made->where.emplace_back(table.rows);
        }
        made->finish();
        return made;
    }();
    return Facts(store);
}

Result<Facts> Facts::with_overlay(const std::filesystem::path& directory, std::string_view today) {
    return with_overlays({directory}, today);
}

Result<Facts> Facts::with_overlays(const std::vector<std::filesystem::path>& directories,
                                   std::string_view today) {
    std::vector<std::filesystem::path> files;
    for (const auto& directory : directories) {
        CM_TRY_ASSIGN(const auto found, tables_in(directory));
        files.insert(files.end(), found.begin(), found.end());
    }
    const Facts base = embedded();
    auto store = std::make_shared<Store>();
    store->tables = base.store_->tables;
    store->where = base.store_->where;

    std::vector<std::string> known;
    for (const auto& table : store->tables)
        known.emplace_back(table.name);
    std::vector<Diagnostic> mistakes;
    const auto add = [&](const Failure& failure) {
        mistakes.insert(mistakes.end(), failure.diagnostics.begin(), failure.diagnostics.end());
    };
    for (const auto& path : files) {
        const auto content = file::read(path, kLargestTable);
        if (!content) {
            add(content.failure());
            continue;
        }
        auto parsed = facts::read_table(*content, path.string());
        if (!parsed) {
            add(parsed.failure());
            continue;
        }
        const auto at = std::find(known.begin(), known.end(), parsed->name);
        if (at == known.end()) {
            const auto near = text::did_you_mean(parsed->name, known);
            mistakes.push_back(Diagnostic::error(fmt::format("there is no table '{}'{}", parsed->name,
                                                             near ? fmt::format("; did you mean '{}'?", *near)
                                                                  : ": one of " + text::join(known, ", ")),
                                                 Location{path.string(), 1, 1, 1}));
            continue;
        }
        store->merge(static_cast<std::size_t>(at - known.begin()), *parsed);
    }
    if (mistakes.empty()) {
        store->finish();
        const Facts laid(store);
        mistakes = mistakes_of_overlay(base, laid, today);
        if (mistakes.empty()) return laid;
    }
    return Failure{ExitCode::bad_input, std::move(mistakes)};
}

Facts Facts::with_rows(std::string_view table, std::span<const facts::ParsedRow> rows) const {
    if (store_->below) return Facts(store_->below).with_rows(table, rows);
    const auto at = std::ranges::find(store_->tables, table, &Table::name);
    if (rows.empty() || at == store_->tables.end()) return *this;
    auto store = std::make_shared<Store>();
    store->below = store_;
    store->tables = store_->tables;
    store->where = store_->where;
    store->lay(static_cast<std::size_t>(at - store_->tables.begin()), rows);
    store->finish();
    return Facts(std::move(store));
}

std::span<const Table> Facts::tables() const {
    return store_->tables;
}

const Table* Facts::table(std::string_view name) const {
    for (const auto& table : store_->tables) {
        if (table.name == name) return &table;
    }
    return nullptr;
}

std::vector<Table> Facts::laid_over() const {
    std::vector<Table> out;
    for (std::size_t i = 0; i < store_->tables.size(); ++i) {
        const auto& table = store_->tables[i];
        Table own{table.name, table.as_of, {}};
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            if (!store_->where[i][row].file.empty()) own.rows.push_back(table.rows[row]);
        }
        if (!own.rows.empty()) out.push_back(std::move(own));
    }
    return out;
}

std::span<const Row> Facts::rows(std::string_view table) const {
    const auto* found = this->table(table);
    return found != nullptr ? std::span<const Row>(found->rows) : std::span<const Row>();
}

std::span<const KnownProblem> Facts::known_problems(std::string_view rule) const {
    return store_->problems(rule);
}

std::span<const PackageRelease> Facts::package_releases(std::string_view package) const {
    return store_->releases(package);
}

std::optional<Row> Facts::row(std::string_view id) const {
    const auto found = store_->by_id.find(id);
    if (found == store_->by_id.end()) return std::nullopt;
    return store_->at(found->second);
}

std::optional<Row> Facts::named(std::string_view name) const {
    const auto found = store_->by_name.find(facts::folded(name));
    if (found == store_->by_name.end()) return std::nullopt;
    return store_->at(found->second);
}

namespace {

// How many rows were looked up on each day. Neighbours mostly share theirs.
std::map<std::string_view, std::size_t> rows_by_date(std::span<const Table> tables) {
    std::map<std::string_view, std::size_t> rows;
    auto last = rows.end();
    for (const auto& table : tables) {
        for (const auto& row : table.rows) {
            const auto date = row.text("as_of");
            if (last == rows.end() || last->first != date) last = rows.try_emplace(date).first;
            ++last->second;
        }
    }
    return rows;
}

}  // namespace

std::string Facts::date() const {
    if (store_->below) return Facts(store_->below).date();
    const auto rows = rows_by_date(store_->tables);
    return rows.empty() ? std::string() : std::string(rows.rbegin()->first);
}

std::string Facts::hash() const {
    if (store_->below) return Facts(store_->below).hash();
    if (store_->is_embedded) return std::string(facts::embedded_hash());
    facts::TableHash hash;
    for (const auto& table : store_->tables) {
        hash.table(table.name);
        for (const auto& row : table.rows) {
            for (const auto& column : row.columns()) {
                hash.column(column.name, column.is_list);
                for (const auto value : column.values)
                    hash.value(value);
            }
            hash.row_end();
        }
    }
    return hash.digits();
}

bool is_old(std::string_view as_of, std::string_view today) {
    const auto then = day_number(as_of), now = day_number(today);
    return then && now && *now - *then > kOldAfterDays;
}

std::size_t old_rows(std::span<const Row> rows, std::string_view today) {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const Row& row) { return is_old(row.text("as_of"), today); }));
}

std::string oldest_date(std::span<const Row> rows) {
    std::string_view oldest;
    for (const auto& row : rows) {
        const auto date = row.text("as_of");
        if (!date.empty() && (oldest.empty() || date < oldest)) oldest = date;
    }
    return std::string(oldest);
}

std::string median_date(std::span<const Table> tables) {
    const auto rows = rows_by_date(tables);
    std::size_t all = 0, older = 0;
    for (const auto& [date, count] : rows)
        all += count;
    for (const auto& [date, count] : rows) {
        older += count;
        if (2 * older >= all) return std::string(date);
    }
    return {};
}

}  // namespace cudamatrix
