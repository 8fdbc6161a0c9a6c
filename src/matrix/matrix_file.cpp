#include "matrix/matrix_file.hpp"

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "matrix/matrix_text.hpp"
#include "matrix/product.hpp"
#include "matrix/reader.hpp"
#include "matrix/yaml.hpp"
#include "matrix/yaml_writer.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

constexpr std::uint64_t kFileBytes = 1u << 20;

struct Section {
    std::string_view key;
    void (*read)(Reader&, const Node&, const Node&);
    Json (*write)(const Matrix&);
    Node::Kind kind;
    std::string_view accepts;
    std::string_view empty = {};  ///< what is wrong with an empty list
    std::string_view fix = {};
};

// Each after what it builds on.
constexpr auto kSections = std::to_array<Section>({
    {"axes", read_axes, write_axes, Node::Kind::map, "a map of fields and their values"},
    {"zip", read_zip, write_zip, Node::Kind::sequence, "a list of lists such as [[cuda, torch]]"},
    {"exclude", read_exclude, write_exclude, Node::Kind::sequence,
     "a list of maps such as [{driver: \"<500\", cuda: \">=12\"}]"},
    {"include", read_include, write_include, Node::Kind::sequence, "a list of maps, one for each cell"},
    {"set", read_set, write_set, Node::Kind::map, "a map of fields and their values"},
    {"keep", read_keep, write_keep, Node::Kind::sequence, "a list of maps such as [{gpu: V100}]"},
    {"rules", read_rules, write_rules, Node::Kind::sequence, "a list of rules"},
    {"waive", read_waive, write_waive, Node::Kind::sequence, "a list of waivers"},
    {"stages", read_stages, write_stages, Node::Kind::sequence, "a list such as [install, runtime]",
     "no stage would decide", "name a stage, or delete the key"},
    {"build", read_build, write_build, Node::Kind::map, "a map such as {network: host, user: app}"},
    {"mirrors", read_mirrors, write_mirrors, Node::Kind::map,
     "a map such as {docker.io: registry.example.org/hub}"},
    {"images", read_images, write_images, Node::Kind::sequence, kImageExample, "no cell would get an image",
     "write an entry, or delete the key"},
    {"services", read_services, write_services, Node::Kind::sequence, kServiceExample,
     "nothing would be started", "write a service, or delete the key"},
    {"emit", read_emit, write_emit, Node::Kind::map,
     "a map such as {machines: [{when: {gpu: T4}, labels: [gpu-t4]}]}"},
});

std::vector<std::string> known_keys() {
    std::vector<std::string> keys{"version", "name", "expect", "expect_cells"};
    for (const Section& section : kSections)
        keys.emplace_back(section.key);
    return keys;
}

void check_keys(Reader& reader, const Node& root) {
    const auto known = known_keys();
    for (const auto& [key, value] : root.members) {
        if (field_named(key.text)) {
            reader.error(key.where,
                         fmt::format("{} is a field of a cell: expected under axes or set", key.text),
                         fmt::format("write set: {{{}: ...}}", key.text));
        } else if (std::find(known.begin(), known.end(), key.text) == known.end()) {
            reader.unknown_key(key, "a matrix file", known);
        }
    }
}

void read_version(Reader& reader, const Node& root) {
    const auto* member = root.member("version");
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
    return !text.empty() && text.size() <= 64 && text::only(text, "._-") && text::is_word(text.front()) &&
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
    const auto* member = root.member("name");
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

void read_sections(Reader& reader, const Node& root) {
    for (const Section& section : kSections) {
        static const yaml::Member nothing;
        const bool zip = section.key == "zip";
        const auto* member = root.member(section.key);
        const auto& [key, node] = member == nullptr ? nothing : *member;
        // A key alone is one that is not there; only an empty `stages` is a mistake.
        const bool absent = member == nullptr || (node.kind == Node::Kind::null && section.key != "stages");
        const bool example = section.accepts.starts_with('{');
        const bool fits =
            !absent && reader.expect(key, node, section.kind,
                                     example ? fmt::format("a list such as [{}]", section.accepts)
                                             : std::string(section.accepts));
        if (fits && !section.empty.empty() && node.items.empty())
            reader.error(node.where, fmt::format("{}: an empty list: {}", section.key, section.empty),
                         std::string(section.fix));
        if (fits || zip) section.read(reader, key, fits ? node : nothing.second);
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

Failure failure_of(std::vector<Diagnostic> problems) {
    std::stable_sort(problems.begin(), problems.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return before(a.where, b.where); });
    return first_hundred(std::move(problems));
}

}  // namespace

Result<Matrix> read_matrix_text(std::string_view text, std::string_view name, const AlsoWrong& also_wrong,
                                const Spelling& names) {
    CM_TRY_ASSIGN(auto parsed, yaml::parse(text, name));
    const Node& root = parsed;
    Reader reader;
    reader.names = names;
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
    const auto expected = read_expect(reader, root);
    read_sections(reader, root);
    if (reader.problems.empty()) {
        report_idle_excludes(reader);
        report_repeated_includes(reader);
        reader.matrix.shared_segments = shared_segments(reader.matrix);
        if (expected) check_cells(reader, *expected);
    }
    if (also_wrong) {
        for (auto& problem : also_wrong(reader.matrix))
            reader.problems.push_back(std::move(problem));
    }
    if (!reader.problems.empty()) return failure_of(std::move(reader.problems));
    return std::move(reader.matrix);
}

std::string matrix_text(const Matrix& matrix) {
    const Expect& expect = matrix.expect;
    Json document{{"version", 1}, {"name", matrix.name}};
    if (expect != Expect{}) document["expect"] = nullptr;
    for (const Section& section : kSections) {
        if (auto written = section.write(matrix); !written.empty())
            append_member(document, std::string(section.key), std::move(written));
    }
    if (expect != Expect{}) document["expect"] = write_expect(expect, document.size());
    return yaml::document_text({}, document) + (expect.end ? "...\n" : "");
}

Result<Matrix> read_matrix_file(const std::filesystem::path& path, const AlsoWrong& also_wrong,
                                const Spelling& names, const file::Reader& read) {
    CM_TRY_ASSIGN(auto content, read(path, kFileBytes));
    auto matrix = read_matrix_text(content, path.string(), also_wrong, names);
    if (!matrix.ok()) return matrix;
    CM_TRY(read_requirements(matrix->path, matrix->deployment.images, read));
    return matrix;
}

}  // namespace cudamatrix
