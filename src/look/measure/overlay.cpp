#include "look/measure/rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestTable = 16U << 20;

MeasuredRow row_of(const facts::ParsedRow& parsed, const std::string& table, std::string_view today) {
    MeasuredRow row{table, std::string(parsed.text("id")), {}};
    for (const auto& column : parsed.columns) {
        const bool said_by_file = column.name == "as_of" && parsed.text("as_of") == today;
        if (column.name != "id" && !said_by_file)
            row.cells.push_back({column.name, column.values, column.is_list});
    }
    return row;
}

// Rows of earlier runs that no new one replaces.
Result<std::vector<MeasuredRow>> kept_rows(const fs::path& folder, const std::vector<MeasuredRow>& fresh,
                                           std::string_view today) {
    std::set<std::string_view> tables, ids;
    for (const auto& row : fresh) {
        tables.insert(row.table);
        ids.insert(row.id);
    }
    std::vector<MeasuredRow> kept;
    for (const auto table : tables) {
        const auto path = folder / (std::string(table) + ".yaml");
        std::error_code error;
        if (!fs::exists(path, error)) continue;
        CM_TRY_ASSIGN(const auto text, file::read(path, kLargestTable));
        CM_TRY_ASSIGN(const auto parsed, facts::read_table(text, path.string()));
        for (const auto& row : parsed.rows) {
            if (ids.count(row.text("id")) == 0) kept.push_back(row_of(row, std::string(table), today));
        }
    }
    return kept;
}

// What --facts would say of the folder if the tables stood there: the mistake of each line of a table.
class Rehearsal {
  public:
    Rehearsal(const fs::path& folder, const fs::path& base, std::string_view today)
        : folder_(folder), base_(base), today_(today), stage_(folder / ".rehearsal") {
        clear();
    }
    ~Rehearsal() { clear(); }
    Rehearsal(const Rehearsal&) = delete;
    Rehearsal& operator=(const Rehearsal&) = delete;

    Result<std::vector<Diagnostic>> mistakes(const std::map<std::string, std::string>& tables) {
        clear();
        CM_TRY(file::make_directories(stage_));
        std::error_code error;
        const bool apart = !base_.empty() && !fs::equivalent(base_, folder_, error);
        if (apart) {
            CM_TRY(take(base_, "base-", {}));
        }
        CM_TRY(take(folder_, "", tables));
        for (const auto& [table, text] : tables) {
            CM_TRY(file::create(path_of(table), text));
        }
        const auto laid = Facts::with_overlay(stage_, today_);
        return laid.ok() ? std::vector<Diagnostic>{} : laid.failure().diagnostics;
    }
    [[nodiscard]] fs::path path_of(const std::string& table) const { return stage_ / (table + ".yaml"); }

  private:
    // The tables of a folder, but for those that are there in a newer form.
    [[nodiscard]] Status take(const fs::path& from, const std::string& prefix,
                              const std::map<std::string, std::string>& but) const {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(from, error)) {
            const auto name = entry.path().filename();
            if (name.extension() != ".yaml" || but.count(name.stem().string()) != 0) continue;
            CM_TRY(file::link_or_copy(entry.path(), stage_ / (prefix + name.string())));
        }
        return Done{};
    }
    void clear() const {
        std::error_code error;
        fs::remove_all(stage_, error);
    }
    fs::path folder_;
    fs::path base_;
    std::string_view today_;
    fs::path stage_;
};

// Takes the rows away that a mistake speaks of; those from before are not ours to take.
bool take_away(std::vector<MeasuredRow>& fresh, const std::vector<Diagnostic>& mistakes,
               std::vector<std::string>& left_out) {
    const auto before = fresh.size();
    for (const auto& mistake : mistakes) {
        const auto found = std::ranges::find_if(fresh, [&](const MeasuredRow& row) {
            return mistake.message.starts_with(fmt::format("row '{}': ", row.id));
        });
        if (found == fresh.end()) continue;
        left_out.push_back(mistake.message);
        fresh.erase(found);
    }
    return fresh.size() != before;
}

// What the row of a release says, but for which one it is and where that was read.
std::string said_of_release(const MeasuredRow& row) {
    auto rest = row;
    rest.id.clear();
    std::erase_if(rest.cells, [](const Cell& cell) {
        return cell.name == "version" || cell.name == "also" || cell.name == "source";
    });
    return yaml_line(rest);
}

std::vector<std::string> releases_of(const MeasuredRow& row) {
    std::vector<std::string> releases;
    for (const auto* name : {"version", "also"}) {
        if (const auto* cell = row.cell(name); cell != nullptr)
            releases.insert(releases.end(), cell->values.begin(), cell->values.end());
    }
    return releases;
}

MeasuredRow shared_row(const MeasuredRow& first, std::vector<std::string> releases) {
    auto row = first;
    std::erase_if(row.cells, [](const Cell& cell) { return cell.name == "also"; });
    const auto version =
        std::ranges::find_if(row.cells, [](const Cell& cell) { return cell.name == "version"; });
    version->values = {releases.front()};
    row.id = fmt::format("package-{}-{}", row.cell("package")->values.front(), releases.front());
    if (releases.size() == 1) return row;
    row.id += "-and-others";
    releases.erase(releases.begin());
    row.cells.insert(version + 1, list("also", std::move(releases)));
    return row;
}

// Releases of a package that say the same share a row: what a package demands changes seldom.
void share_rows(std::vector<MeasuredRow>& rows) {
    std::set<std::string> own;
    for (const auto& row : rows) {
        if (row.table == "package_releases" && row.cell("also") == nullptr) own.insert(row.id);
    }
    std::map<std::string, std::pair<const MeasuredRow*, std::vector<std::string>>> groups;
    std::vector<MeasuredRow> out;
    std::ranges::stable_sort(
        rows, [](const MeasuredRow& a, const MeasuredRow& b) { return facts::natural_less(a.id, b.id); });
    for (const auto& row : rows) {
        if (row.table != "package_releases" || row.cell("version") == nullptr) {
            out.push_back(row);
            continue;
        }
        auto& [first, releases] = groups[said_of_release(row)];
        if (first == nullptr) first = &row;
        for (auto& release : releases_of(row)) {
            const auto id = fmt::format("package-{}-{}", row.cell("package")->values.front(), release);
            if (row.cell("also") == nullptr || own.count(id) == 0) releases.push_back(std::move(release));
        }
    }
    for (auto& [said, group] : groups) {
        if (!group.second.empty()) out.push_back(shared_row(*group.first, std::move(group.second)));
    }
    rows = std::move(out);
}

}  // namespace

Result<std::vector<std::string>> write_overlay(const fs::path& folder, std::vector<MeasuredRow> rows,
                                               std::string_view today, const fs::path& base) {
    std::vector<std::string> left_out;
    if (rows.empty()) return left_out;
    CM_TRY(file::make_directories(folder));
    CM_TRY_ASSIGN(const auto kept, kept_rows(folder, rows, today));
    std::map<std::string, std::string> tables;
    {
        Rehearsal rehearsal(folder, base, today);
        for (;;) {
            auto all = rows;
            all.insert(all.end(), kept.begin(), kept.end());
            tables = rows.empty() ? std::map<std::string, std::string>{} : yaml_tables(all, today);
            if (tables.empty()) break;
            CM_TRY_ASSIGN(const auto mistakes, rehearsal.mistakes(tables));
            if (!take_away(rows, mistakes, left_out)) break;
        }
    }
    if (!tables.empty()) {
        rows.insert(rows.end(), kept.begin(), kept.end());
        share_rows(rows);
        tables = yaml_tables(rows, today);
    }
    for (const auto& [table, text] : tables) {
        CM_TRY(file::write(folder / (table + ".yaml"), text));
    }
    return left_out;
}

}  // namespace cudamatrix::measure
