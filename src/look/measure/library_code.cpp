#include "look/measure/library_code.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "look/scan/wheel.hpp"
#include "registry/http_source.hpp"

namespace cudamatrix::measure {
namespace {

// Architectures of one kind that are in containers with kernels, each once.
std::vector<std::string> archs_of(const scan::Library& library, fatbin::Kind kind) {
    std::set<fatbin::Arch> archs;
    for (const auto& target : library.targets) {
        if (target.kind == kind && target.kernels) archs.insert(target.arch);
    }
    std::vector<std::string> out;
    for (const auto& arch : archs)
        out.push_back(fatbin::to_text(arch));
    return out;
}

std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// The newest row of a library of that name: what it is for is the same in every release.
std::optional<Row> row_about(const Facts& facts, std::string_view library) {
    std::optional<Row> out;
    for (const auto& row : facts.rows("torch_libraries")) {
        if (row.text("library") == library) out = row;
    }
    return out;
}

}  // namespace

Result<std::vector<LibraryCode>> library_code(HttpConnection& connection, const IndexFile& file,
                                              const Cancellation* cancellation, std::uint64_t& bytes) {
    CM_TRY_ASSIGN(auto source, HttpSource::open(connection, file.url));
    const scan::Options options{{true, {}}, cancellation};
    const auto scan = scan::scan_wheel(*source, file.name, file.sha256, options);
    bytes += source->transferred();
    if (cudamatrix::interrupted(cancellation))
        return Failure{ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    if (!scan.ok()) return scan.failure();
    std::vector<LibraryCode> libraries;
    for (const auto& library : scan->libraries) {
        if (!library.error.empty())
            return input_failure(fmt::format("{}: {}: {}", text::printable(file.name),
                                             text::printable(library.path), text::printable(library.error)));
        LibraryCode each{library.path, archs_of(library, fatbin::Kind::sass),
                         archs_of(library, fatbin::Kind::ptx)};
        if (!each.sass.empty() || !each.ptx.empty()) libraries.push_back(std::move(each));
    }
    return libraries;
}

std::vector<MeasuredRow> library_rows(const MeasuredRow& wheel, const WheelInfo& info, const Facts& facts,
                                      std::vector<std::string>& others) {
    std::vector<MeasuredRow> rows;
    if (!info.library_code) return rows;
    const auto value = [&](std::string_view column) { return wheel.cell(column)->values.front(); };
    for (const auto& library : *info.library_code) {
        const auto name = name_of(library.path);
        const auto known = row_about(facts, name);
        if (!known) {
            others.push_back(library.path);
            continue;
        }
        // Where the purpose is known from is a source of the new row, too; the wheels of other rows are not.
        Cell source{"source", wheel.cell("source")->values, false};
        for (const auto each : known->list("source")) {
            if (!each.starts_with("wheel:")) source.values.emplace_back(each);
        }
        source.is_list = source.values.size() > 1;
        rows.push_back({"torch_libraries",
                        fmt::format("{}-{}", wheel.id, name),
                        {{"torch", {value("torch")}, false},
                         {"variant", {value("variant")}, false},
                         {"arch", {value("arch")}, false},
                         {"library", {name}, false},
                         {"purpose", {std::string(known->text("purpose"))}, false},
                         {"sass", library.sass, true},
                         {"ptx", library.ptx, true},
                         std::move(source),
                         {"confidence", {"measured"}, false}}});
    }
    return rows;
}

}  // namespace cudamatrix::measure
