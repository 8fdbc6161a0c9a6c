#include "look/measure/rows.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix::measure {
namespace {

bool is_plain(const Cell& cell) {
    return !cell.is_list &&
           (cell.values.front() == "true" || cell.values.front() == "false" || cell.name == "confidence" ||
            cell.name == "cxx_standard" || cell.name == "gcc_max" || cell.name == "clang_max");
}

std::string in_quotes(std::string_view text) {
    const auto line = text::printable(text);
    return '"' + text::replace_all(text::replace_all(line, "\\", "\\\\"), "\"", "\\\"") + '"';
}

// The version that `demand` pins for a project whose name starts so, on that processor.
std::string pin(const std::vector<std::string>& demands, std::string_view project, std::string_view arch) {
    for (const auto& demand : demands) {
        const auto parts = text::split(demand, ';');
        const auto words = text::split(parts.front(), ' ');
        if (words.size() != 2 || !words[0].starts_with(project)) continue;
        const bool elsewhere = std::any_of(parts.begin() + 1, parts.end(), [&](const std::string& condition) {
            return condition.starts_with(" arch ") && condition != fmt::format(" arch {}", arch);
        });
        if (elsewhere) continue;
        const std::string_view clause = words[1];
        if (clause.starts_with("==")) return std::string(clause.substr(2));
        // ~=3.8.0 admits every 3.8: that is what the column says.
        if (clause.starts_with("~=")) return std::string(clause.substr(2, clause.rfind('.') - 2));
    }
    return {};
}

struct ArchList {
    std::vector<std::string> compute;
    std::vector<std::string> ptx;
};

ArchList arch_list(std::string_view text) {
    ArchList out;
    for (const auto& entry : text::split(text, ' ')) {
        if (entry.empty()) continue;
        const auto underscore = entry.find('_');
        auto digits = entry.substr(underscore + 1);
        std::string suffix;
        if (digits.ends_with('a') || digits.ends_with('f')) {
            suffix = digits.substr(digits.size() - 1);
            digits.pop_back();
        }
        const auto compute =
            digits.substr(0, digits.size() - 1) + "." + digits.substr(digits.size() - 1) + suffix;
        (entry.starts_with("sm_") ? out.compute : out.ptx).push_back(compute);
    }
    return out;
}

void add_yanked(MeasuredRow& row, const std::optional<std::string>& because) {
    row.cells.push_back(scalar("yanked", because ? "true" : "false"));
    if (because && !because->empty()) row.cells.push_back(scalar("yanked_because", *because));
}

// The systems with a wheel, and those wheels where they differ from the ones for Linux on x86_64.
void add_platforms(MeasuredRow& row, const Release& release, const std::vector<std::string>& abi) {
    auto wheels = release.wheels;
    wheels.insert(wheels.end(), release.elsewhere.begin(), release.elsewhere.end());
    const auto systems = systems_of(wheels);
    row.cells.push_back(list("platforms", systems));
    for (const auto& system : systems) {
        const auto own = abis_on(wheels, system);
        if (system != "linux" && own != abi) row.cells.push_back(list("abi_" + system, own));
    }
}

Cell source_of(const WheelInfo& info) {
    return scalar("source", source_text(info));
}

Failure impossible(const WheelInfo& info, std::string_view why) {
    return input_failure(fmt::format("{}: {}", text::printable(info.file), text::printable(why)));
}

// Pythons that no fact knows: torch_wheels may only name those that one does.
void add_unknown_pythons(const std::vector<std::string>& pythons, const WheelInfo& info, const Facts& facts,
                         std::vector<MeasuredRow>& rows) {
    for (const auto& text : pythons) {
        const auto python = without_suffix(text);
        const auto id = "python-" + python;
        const bool there =
            facts.row(id) || std::ranges::any_of(rows, [&](const MeasuredRow& row) { return row.id == id; });
        if (!there)
            rows.push_back({"pythons",
                            id,
                            {scalar("python", python), source_of(info), scalar("confidence", "measured")}});
    }
}

bool same_members(std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    return a == b;
}

// A release that no fact knows, or whose row does not name the variant: what one wheel says, and no
// claim that this is all.
std::optional<MeasuredRow> release_row(const std::string& version, const std::string& variant,
                                       const std::vector<std::string>& pythons, bool default_index,
                                       const WheelInfo& info, const Facts& facts) {
    if (pythons.empty()) return std::nullopt;
    MeasuredRow row{"torch_releases", "torch-" + version, {scalar("torch", version)}};
    std::vector<std::string> variants;
    if (const auto known = facts.row(row.id)) {
        const auto before = known->list("variants");
        variants.assign(before.begin(), before.end());
        if (std::ranges::find(variants, variant) != variants.end()) return std::nullopt;
    }
    const bool is_new = variants.empty();
    variants.push_back(variant);
    row.cells.push_back(list("variants", std::move(variants)));
    if (is_new) {
        if (default_index) row.cells.push_back(scalar("default_variant", variant));
        row.cells.push_back(scalar("python_min", without_suffix(pythons.front())));
        row.cells.push_back(scalar("python_max", without_suffix(pythons.back())));
        row.cells.push_back(scalar("complete", "false"));
    }
    row.cells.push_back(source_of(info));
    row.cells.push_back(scalar("confidence", "measured"));
    return row;
}

// That of a release may be one that it shares with others.
std::optional<Row> known_row(const MeasuredRow& row, const Facts& facts) {
    const auto *package = row.cell("package"), *version = row.cell("version");
    if (row.table != "package_releases" || package == nullptr || version == nullptr) return facts.row(row.id);
    return lookup::package_release(facts, package->values.front(), version->values.front());
}

}  // namespace

std::string source_text(const WheelInfo& info) {
    return fmt::format("wheel:{} sha256:{}", info.file, info.sha256);
}

const Cell* MeasuredRow::cell(std::string_view name) const {
    const auto found = std::ranges::find_if(cells, [&](const Cell& cell) { return cell.name == name; });
    return found == cells.end() ? nullptr : &*found;
}

Result<std::vector<MeasuredRow>> torch_rows(const Release& release, const WheelInfo& info, bool default_index,
                                            const Facts& facts) {
    std::string bad;
    const auto demands = all_demands(info.metadata, bad);
    if (!demands) return impossible(info, fmt::format("its requirement '{}' is not understood", bad));
    const auto build = Version::parse(info.build);
    const auto cuda = Version::parse(info.cuda);
    if (!build || (!info.cuda.empty() && !cuda))
        return impossible(
            info, fmt::format("torch/version.py says version '{}', CUDA '{}'", info.build, info.cuda));
    const auto version = info.build.substr(0, info.build.find('+'));
    const auto variant = cuda ? fmt::format("cu{}{}", cuda->major(), cuda->minor()) : std::string("cpu");
    const auto pythons = pythons_of(release.wheels);
    MeasuredRow row{"torch_wheels", fmt::format("torch-{}+{}-{}", version, variant, release.arch), {}};
    row.cells = {scalar("torch", version), scalar("variant", variant)};
    if (cuda) row.cells.push_back(scalar("cuda", cuda->major_minor()));
    row.cells.push_back(scalar("arch", release.arch));
    if (!cuda || info.arch) {
        const auto lists = arch_list(info.arch.value_or(""));
        row.cells.push_back(list("compute", lists.compute));
        row.cells.push_back(list("ptx", lists.ptx));
    }
    row.cells.push_back(list("pythons", pythons));
    if (default_index) row.cells.push_back(scalar("default_index", "true"));
    if (const auto glibc = glibc_of(release.chosen.name, facts); !glibc.empty())
        row.cells.push_back(scalar("glibc", glibc));
    if (info.cxx11_abi) row.cells.push_back(scalar("cxx11_abi", *info.cxx11_abi ? "true" : "false"));
    for (const auto& [column, project] :
         {std::pair{"triton", "triton"}, {"cudnn", "nvidia-cudnn-cu"}, {"nccl", "nvidia-nccl-cu"}}) {
        if (auto pinned = pin(*demands, project, release.arch); Version::parse(pinned))
            row.cells.push_back(scalar(column, std::move(pinned)));
    }
    row.cells.push_back(source_of(info));
    row.cells.push_back(scalar("confidence", "measured"));
    std::vector<MeasuredRow> rows{std::move(row)};
    add_unknown_pythons(pythons, info, facts, rows);
    if (auto of_release = release_row(version, variant, pythons, default_index, info, facts))
        rows.push_back(std::move(*of_release));
    return rows;
}

void add_variants(MeasuredRow& into, const MeasuredRow& other) {
    const auto* more = other.cell("variants");
    for (auto& cell : into.cells) {
        if (cell.name != "variants" || more == nullptr) continue;
        for (const auto& variant : more->values) {
            if (std::ranges::find(cell.values, variant) == cell.values.end()) cell.values.push_back(variant);
        }
    }
}

std::optional<std::string> yanked_because(const Release& release) {
    const auto is_kept = [](const IndexFile& file) { return !file.yanked; };
    if (release.wheels.empty() || std::ranges::any_of(release.wheels, is_kept)) return std::nullopt;
    // The author gives it for the release, an index may lack it for a file.
    const auto given = std::ranges::find_if(
        release.wheels, [](const IndexFile& file) { return !text::trim(file.yanked_reason).empty(); });
    if (given == release.wheels.end()) return std::string();
    std::string line(text::trim(given->yanked_reason));
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text::printable(line);
}

Result<MeasuredRow> package_row(const Release& release, const WheelInfo& info, std::string_view package) {
    std::string bad;
    const auto demands = all_demands(info.metadata, bad);
    if (!demands) return impossible(info, fmt::format("its requirement '{}' is not understood", bad));
    MeasuredRow row{"package_releases", fmt::format("package-{}-{}", package, release.version), {}};
    row.cells = {scalar("package", std::string(package)), scalar("version", release.version)};
    if (pep440::Specifiers::parse(info.metadata.requires_python) && !info.metadata.requires_python.empty())
        row.cells.push_back(scalar("requires_python", info.metadata.requires_python));
    row.cells.push_back(list("requires", *demands));
    if (package != "torch") {  // its wheels stand in torch_wheels
        const auto x86_64 = abis_of(release.wheels, "x86_64");
        const auto aarch64 = abis_of(release.wheels, "aarch64");
        row.cells.push_back(list("abi", x86_64));
        if (aarch64 != x86_64) row.cells.push_back(list("abi_aarch64", aarch64));
        add_platforms(row, release, x86_64);
        if (release.sdist) row.cells.push_back(scalar("sdist", "true"));
    }
    if (const auto because = yanked_because(release); because) add_yanked(row, because);
    row.cells.push_back(source_of(info));
    row.cells.push_back(scalar("confidence", "measured"));
    return row;
}

MeasuredRow yanked_row(const Row& known, const std::optional<std::string>& because) {
    MeasuredRow row{"package_releases", std::string(known.id()), {}};
    for (const auto& column : known.columns()) {
        if (column.name == "source") add_yanked(row, because);
        if (column.name != "id" && column.name != "as_of" && !column.name.starts_with("yanked"))
            row.cells.push_back(
                {std::string(column.name), {column.values.begin(), column.values.end()}, column.is_list});
    }
    return row;
}

std::vector<std::string> differing_columns(const MeasuredRow& a, const MeasuredRow& b) {
    std::set<std::string> names;
    for (const auto* row : {&a, &b}) {
        for (const auto& cell : row->cells)
            names.insert(cell.name);
    }
    std::erase_if(names, [&](const std::string& name) {
        const auto *one = a.cell(name), *two = b.cell(name);
        return name == "source" || name == "confidence" || (one != nullptr && two != nullptr && *one == *two);
    });
    return {names.begin(), names.end()};
}

Compared compare(MeasuredRow row, const Facts& facts) {
    Compared out;
    const auto known = known_row(row, facts);
    if (!known) {
        out.row = std::move(row);
        return out;
    }
    std::vector<Cell> merged;
    for (auto& cell : row.cells) {
        const auto before = known->list(cell.name);
        const std::vector<std::string> old(before.begin(), before.end());
        if (cell.name == "source" || cell.name == "confidence" || cell.name == "version") {
        } else if (!known->has(cell.name)) {
            out.filled.push_back(cell.name);
        } else if (cell.name == "requires" ? !same_demands(old, cell.values)
                                           : !same_members(old, cell.values)) {
            out.contradicted.push_back(cell.name);
        } else {
            cell.values = old;  // in the order that stands there
        }
    }
    out.status = !out.contradicted.empty() ? RowStatus::contradicted
                 : !out.filled.empty()     ? RowStatus::filled
                                           : RowStatus::confirmed;
    // In the order of the known row: what it has besides stays.
    for (const auto& column : known->columns()) {
        if (column.name == "id" || column.name == "as_of" || column.name == "also" ||
            row.cell(column.name) != nullptr)
            continue;
        merged.push_back(
            {std::string(column.name), {column.values.begin(), column.values.end()}, column.is_list});
    }
    const auto at = std::ranges::find_if(row.cells, [](const Cell& cell) { return cell.name == "source"; });
    row.cells.insert(at, merged.begin(), merged.end());
    out.row = std::move(row);
    return out;
}

MeasuredRow filled_row(const Compared& compared, const Facts& facts) {
    auto row = compared.row;
    const auto known = known_row(row, facts);
    if (!known) return row;
    const auto as_known = [&](Cell& cell) {
        const auto values = known->list(cell.name);
        cell.values.assign(values.begin(), values.end());
    };
    for (auto& cell : row.cells) {
        if (std::ranges::find(compared.contradicted, cell.name) != compared.contradicted.end())
            as_known(cell);
        if (cell.name == "confidence" && !compared.contradicted.empty()) as_known(cell);
        if (cell.name != "source") continue;
        for (const auto each : known->list("source")) {
            if (std::ranges::find(cell.values, each) == cell.values.end()) cell.values.emplace_back(each);
        }
        cell.is_list = cell.values.size() > 1;
    }
    return row;
}

std::string yaml_line(const MeasuredRow& row) {
    auto out = fmt::format("  - {{id: {}", row.id);
    for (const auto& cell : row.cells) {
        std::vector<std::string> values;
        for (const auto& value : cell.values)
            values.push_back(is_plain(cell) ? value : in_quotes(value));
        const auto text = text::join(values, ", ");
        out += fmt::format(", {}: {}", cell.name, cell.is_list ? "[" + text + "]" : text);
    }
    return out + "}\n";
}

std::string shown(const MeasuredRow& row, std::string_view column) {
    const auto* cell = row.cell(column);
    return fmt::format("{}: {}", column,
                       cell == nullptr ? "(none)" : text::printable(text::join(cell->values, ", ")));
}

std::string shown(const Row& row, std::string_view column) {
    const auto values = row.list(column);
    return fmt::format(
        "{}: {}", column,
        row.has(column) ? text::printable(text::join({values.begin(), values.end()}, ", ")) : "(none)");
}

std::map<std::string, std::string> yaml_tables(const std::vector<MeasuredRow>& rows, std::string_view as_of) {
    std::map<std::string, std::vector<const MeasuredRow*>> tables;
    for (const auto& row : rows)
        tables[row.table].push_back(&row);
    std::map<std::string, std::string> out;
    for (auto& [name, members] : tables) {
        std::ranges::sort(members, [](const MeasuredRow* a, const MeasuredRow* b) {
            return facts::natural_less(a->id, b->id);
        });
        auto text = fmt::format(
            "# Written by `cudamatrix facts measure`: read from the wheels themselves.\ntable: {}\nas_of: "
            "\"{}\"\nrows:\n",
            name, as_of);
        const MeasuredRow* last = nullptr;
        for (const auto* row : members) {
            if (last == nullptr || last->id != row->id) text += yaml_line(*row);
            last = row;
        }
        out[name] = std::move(text);
    }
    return out;
}

}  // namespace cudamatrix::measure
