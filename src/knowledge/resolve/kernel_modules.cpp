#include "knowledge/resolve/kernel_modules.hpp"

namespace cudamatrix::rules {

std::string_view open_kernel_module(const Device& device) {
    if (device.gpu && device.gpu->has("open_kernel_module")) return device.gpu->text("open_kernel_module");
    return device.architecture.text("open_kernel_module");
}

std::optional<Row> first_with_open_modules(const Facts& facts) {
    std::optional<Row> first;
    std::optional<Version> oldest;
    for (const auto& row : facts.rows("architectures")) {
        const auto open = row.text("open_kernel_module");
        if (open.empty() || open == "unsupported") continue;
        for (const auto text : row.list("compute")) {
            const auto compute = Version::parse(text);
            if (!compute || (oldest && *oldest <= *compute)) continue;
            oldest = compute;
            first = row;
        }
    }
    return first;
}

}  // namespace cudamatrix::rules
