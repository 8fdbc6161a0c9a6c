#include "render/templates/template.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kTemplates = "templates/";
constexpr std::string_view kSuite = "suite/";
constexpr std::uint64_t kLargestSource = 4u << 20;

// The same types that src/render/CMakeLists.txt embeds.
bool is_source(const std::filesystem::path& path) {
    static constexpr std::array<std::string_view, 6> types{".cpp", ".hpp", ".cu", ".cuh", ".def", ".py"};
    return std::ranges::find(types, path.extension().string()) != types.end();
}

}  // namespace

std::span<const EmbeddedFile> embedded_below(std::string_view folder) {
    const auto all = embedded_files();
    const auto first =
        std::lower_bound(all.begin(), all.end(), folder,
                         [](const EmbeddedFile& file, std::string_view name) { return file.path < name; });
    auto last = first;
    while (last != all.end() && last->path.starts_with(folder))
        ++last;
    return {first, last};
}

mustache::Library embedded_templates() {
    mustache::Library library;
    for (const auto& [path, content] : embedded_below(kTemplates)) {
        library.add(std::string(path.substr(kTemplates.size())), std::string(content), std::string(path));
    }
    return library;
}

std::vector<SuiteFile> embedded_suite() {
    std::vector<SuiteFile> suite;
    for (const auto& [path, content] : embedded_below(kSuite)) {
        suite.push_back({std::string(path.substr(kSuite.size())), std::string(content)});
    }
    return suite;
}

Result<std::vector<SuiteFile>> suite_from(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::vector<SuiteFile> suite;
    for (const std::string_view part : {"fatbin", "kernels"}) {
        std::error_code error;
        std::size_t found = 0;
        for (fs::recursive_directory_iterator it(folder / part, error), end; !error && it != end;
             it.increment(error)) {
            if (!it->is_regular_file(error) || !is_source(it->path())) continue;
            CM_TRY_ASSIGN(auto content, file::read(it->path(), kLargestSource));
            suite.push_back({it->path().lexically_relative(folder).generic_string(), std::move(content)});
            ++found;
        }
        if (error || found == 0) {
            return input_failure(
                fmt::format("{} holds no sources of the suite: {}", text::printable((folder / part).string()),
                            error ? error.message() : "no source file is there"),
                "give a folder that holds kernels/ and fatbin/");
        }
    }
    std::ranges::sort(suite, [](const SuiteFile& a, const SuiteFile& b) { return a.path < b.path; });
    return suite;
}

bool is_host_part(std::string_view suite_path) {
    // Its list and its faults lie in kernels/ itself; what nvcc compiles lies in a folder for each group.
    constexpr std::string_view kernels = "kernels/";
    if (!suite_path.starts_with(kernels)) return true;
    const auto folder =
        suite_path.substr(kernels.size(), suite_path.find('/', kernels.size()) - kernels.size());
    static constexpr std::array<std::string_view, 5> of_host{"build", "host", "python", "runner", "support"};
    return suite_path.find('/', kernels.size()) == suite_path.npos ||
           std::ranges::count(of_host, folder) != 0;
}

std::string suite_hash(const std::vector<SuiteFile>& suite) {
    Sha256 digest;
    for (const auto& [path, content] : suite)
        digest.update(fmt::format("{} {}\n", path, content.size())).update(content);
    return digest.hex();
}

}  // namespace cudamatrix
