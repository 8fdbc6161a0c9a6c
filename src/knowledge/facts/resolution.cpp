#include "knowledge/facts/resolution.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {

std::string PipQuestion::machine() const {
    return fmt::format("python {} on {}{}", python, arch,
                       glibc.empty() ? "" : fmt::format(" (glibc {})", glibc));
}

std::string PipQuestion::text() const {
    return fmt::format("{} for {}", text::join(pins, ", "), machine());
}

bool PipQuestion::is_open() const {
    return std::ranges::any_of(pins,
                               [](const std::string& pin) { return pin.find("==") == std::string::npos; });
}

std::string PipQuestion::id() const {
    constexpr std::size_t kDigits = 12;
    return "resolution-" + sha256(text()).substr(0, kDigits);
}

namespace lookup {

std::optional<Row> resolution(const Facts& facts, const PipQuestion& question) {
    for (const auto& row : facts.rows("resolutions")) {
        if (row.text("python") == question.python && row.text("arch") == question.arch &&
            row.text("glibc") == question.glibc && std::ranges::equal(row.list("pins"), question.pins))
            return row;
    }
    return std::nullopt;
}

}  // namespace lookup
}  // namespace cudamatrix
