#include "matrix/matrix_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/file.hpp"
#include "base/text.hpp"
#include "matrix/cell_id.hpp"
#include "matrix/deployment/requirements.hpp"
#include "matrix/product.hpp"
#include "matrix/reader.hpp"
#include "matrix/value.hpp"
#include "matrix/yaml.hpp"
#include "matrix/yaml_text.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

constexpr std::size_t kMostProblems = 100;
constexpr std::uint64_t kCountingSteps = 10'000'000;
constexpr std::uint64_t kFileBytes = 1u << 20;

const std::vector<std::string>& known_keys() {
    static const std::vector<std::string> keys{"version", "name",    "expect_cells", "axes",   "zip",
                                               "exclude", "include", "set",          "rules",  "waive",
                                               "stages",  "build",   "mirrors",      "images", "services"};
    return keys;
}

const yaml::Member* find_member(const Node& root, std::string_view key) {
    const auto found = std::find_if(root.members.begin(), root.members.end(),
                                    [&](const auto& m) { return m.first.text == key; });
    return found == root.members.end() ? nullptr : &*found;
}

bool before(const Location& a, const Location& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

void check_keys(Reader& reader, const Node& root) {
    for (const auto& [key, value] : root.members) {
        if (field_named(key.text)) {
            reader.error(key.where,
                         fmt::format("{} is a field of a cell: expected under axes or set", key.text),
                         fmt::format("write set: {{{}: ...}}", key.text));
        } else if (std::find(known_keys().begin(), known_keys().end(), key.text) == known_keys().end()) {
            reader.unknown_key(key, "a matrix file", known_keys());
        }
    }
}

void read_version(Reader& reader, const Node& root) {
    const auto* member = find_member(root, "version");
    if (member == nullptr) {
        reader.error({reader.matrix.path, 1, 1, 1},
                     "version is missing: a matrix file states its format version",
                     "write version: 1 as the first line");
        return;
    }
    const auto& [key, node] = *member;
    if (!reader.expect(key, node, Node::Kind::scalar, "version: 1")) return;
    if (node.text != "1") {
        reader.error(node.where, fmt::format("invalid version {}: expected 1", in_quotes(node.text)),
                     "write version: 1");
    }
}

bool is_name(std::string_view text) {
    constexpr std::string_view legal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return !text.empty() && text.size() <= 64 && text.find_first_not_of(legal) == std::string_view::npos &&
           legal.substr(0, 62).find(text.front()) != std::string_view::npos &&
           text.find("..") == std::string_view::npos;
}

// The file's stem, fit for a folder's name.
std::string name_of(const std::string& path) {
    std::string stem = std::filesystem::path(path).stem().string().substr(0, 64);
    for (char& c : stem) {
        if (!is_name(std::string("x") + c)) c = '_';
    }
    return is_name(stem) ? stem : "matrix";
}

void read_name(Reader& reader, const Node& root) {
    reader.matrix.name = name_of(reader.matrix.path);
    const auto* member = find_member(root, "name");
    if (member == nullptr) return;
    const auto& [key, node] = *member;
    constexpr std::string_view accepted = "a word of letters, digits, '.', '_' and '-'";
    if (!reader.expect(key, node, Node::Kind::scalar, accepted)) return;
    if (!is_name(node.text)) {
        reader.error(node.where, fmt::format("invalid name {}: expected {} (it names the output folder)",
                                             in_quotes(node.text), accepted));
        return;
    }
    reader.matrix.name = node.text;
}

// Returns where the number stands.
std::optional<Location> read_expect_cells(Reader& reader, const Node& root) {
    const auto* member = find_member(root, "expect_cells");
    if (member == nullptr) return std::nullopt;
    const auto& [key, node] = *member;
    if (!reader.expect(key, node, Node::Kind::scalar, "a whole number such as 12")) return std::nullopt;
    reader.matrix.expect_cells = whole_number(node.text);
    if (!reader.matrix.expect_cells) {
        reader.error(node.where, fmt::format("invalid expect_cells {}: expected a whole number such as 12",
                                             in_quotes(node.text)));
    }
    for (const std::string_view section : {"axes", "set", "include"}) {
        const auto* cells = find_member(root, section);
        if (cells == nullptr || !before(cells->first.where, key.where)) continue;
        reader.error(key.where,
                     fmt::format("expect_cells comes after {} (line {}): expected before everything "
                                 "that makes cells, so that a truncated file is noticed",
                                 section, cells->first.where.line),
                     "move it to the line after version");
        break;
    }
    return node.where;
}

void read_sections(Reader& reader, const Node& root) {
    struct Section {
        std::string_view key;
        void (*read)(Reader&, const Node&, const Node&);
    };
    static constexpr std::array<Section, 11> sections{{{"axes", read_axes},
                                                       {"set", read_set},
                                                       {"include", read_include},
                                                       {"exclude", read_exclude},
                                                       {"rules", read_rules},
                                                       {"waive", read_waive},
                                                       {"stages", read_stages},
                                                       {"build", read_build},
                                                       {"mirrors", read_mirrors},
                                                       {"images", read_images},
                                                       {"services", read_services}}};
    for (const Section& section : sections) {
        if (const auto* member = find_member(root, section.key))
            section.read(reader, member->first, member->second);
        if (section.key != "axes") continue;
        const auto* zip = find_member(root, "zip");
        static const Node nothing;
        read_zip(reader, zip == nullptr ? nothing : zip->first, zip == nullptr ? nothing : zip->second);
    }
    const Matrix& matrix = reader.matrix;
    if (matrix.axes.empty() && matrix.set.empty() && matrix.include.empty() && reader.problems.empty()) {
        reader.error({matrix.path, 1, 1, 1},
                     "the matrix has no cell: expected fields under axes, set or include",
                     "write for example axes: {cuda: [\"12.4.1\"]}");
    }
}

void report_idle_excludes(Reader& reader) {
    const Matrix& matrix = reader.matrix;
    for (const std::size_t index : Exclusion(matrix).covering_nothing()) {
        const Condition& condition = matrix.exclude[index];
        std::string why = "this exclude covers no cell of the product";
        for (const auto& clause : condition.clauses) {
            if (!matrix.named.contains(clause.field))
                why += fmt::format(": no cell has the field {}", info(clause.field).name);
        }
        reader.warning(condition.where, std::move(why), "correct it, or delete it");
    }
}

void report_repeated_includes(Reader& reader) {
    Matrix& matrix = reader.matrix;
    const auto repeated = repeated_includes(matrix);
    for (const RepeatedInclude& each : repeated) {
        reader.warning(matrix.include_where[each.index],
                       each.in_product ? "this include equals a cell of the product: it adds no cell"
                                       : "this include equals an earlier one: it adds no cell",
                       "delete it");
    }
    drop_includes(matrix, repeated);
}

void check_count(Reader& reader, const Location& where) {
    const Matrix& matrix = reader.matrix;
    const auto counted = count_cells(matrix, kCountingSteps);
    if (!counted) {
        reader.error(where, "expect_cells cannot be checked: the excludes overlap in too many ways to count",
                     "write fewer excludes");
        return;
    }
    if (*counted == *matrix.expect_cells) return;
    auto problem = Diagnostic::error(fmt::format("expect_cells is {}, but the file makes {}",
                                                 *matrix.expect_cells, text::count(*counted, "cell")),
                                     where);
    problem.notes.push_back(fmt::format("{} in the product, {} excluded, {} included", product_size(matrix),
                                        product_size(matrix) + matrix.include.size() - *counted,
                                        matrix.include.size()));
    problem.fix = fmt::format(
        "restore what is missing (a file that was cut off looks like this), or write expect_cells: {}",
        *counted);
    reader.problems.push_back(std::move(problem));
}

Failure failure_of(std::vector<Diagnostic> problems) {
    std::stable_sort(problems.begin(), problems.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return before(a.where, b.where); });
    if (problems.size() > kMostProblems) {
        const auto more = problems.size() - kMostProblems;
        problems.resize(kMostProblems);
        problems.back().notes.push_back(fmt::format("and {} not shown", text::count(more, "more mistake")));
    }
    return Failure{ExitCode::bad_input, std::move(problems)};
}

}  // namespace

Result<Matrix> read_matrix_text(std::string_view text, std::string_view name, const AlsoWrong& also_wrong) {
    CM_TRY_ASSIGN(auto parsed, yaml::parse(text, name));
    const Node& root = parsed;
    Reader reader;
    reader.matrix.path = name;
    reader.matrix.source = yaml::normalised(text);
    if (root.kind != Node::Kind::map) {
        const bool empty = root.kind == Node::Kind::null;
        reader.error(empty ? Location{std::string(name), 1, 1, 1} : root.where,
                     empty ? "the file is empty, expected a matrix file"
                           : fmt::format("found {}, expected a map of keys", kind_name(root.kind)),
                     "start with version: 1, then axes:");
        return failure_of(std::move(reader.problems));
    }
    check_keys(reader, root);
    read_version(reader, root);
    read_name(reader, root);
    const auto expect_where = read_expect_cells(reader, root);
    read_sections(reader, root);
    if (reader.problems.empty()) {
        report_idle_excludes(reader);
        report_repeated_includes(reader);
        reader.matrix.shared_segments = shared_segments(reader.matrix);
        if (expect_where) check_count(reader, *expect_where);
    }
    if (also_wrong) {
        for (auto& problem : also_wrong(reader.matrix))
            reader.problems.push_back(std::move(problem));
    }
    if (!reader.problems.empty()) return failure_of(std::move(reader.problems));
    return std::move(reader.matrix);
}

Result<Matrix> read_matrix_file(const std::filesystem::path& path, const AlsoWrong& also_wrong) {
    CM_TRY_ASSIGN(auto content, file::read(path, kFileBytes));
    auto matrix = read_matrix_text(content, path.string(), also_wrong);
    if (!matrix.ok()) return matrix;
    CM_TRY(read_requirements(matrix->path, matrix->deployment.images));
    return matrix;
}

}  // namespace cudamatrix
