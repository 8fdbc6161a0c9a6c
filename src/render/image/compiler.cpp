// The host compiler that an image of a distribution installs: one that its archive has, and that nvcc takes.
#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

int number(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<Row> in_archive(const Facts& facts, std::string_view os) {
    return facts.row(fmt::format("compilers-{}", os));
}

// "gcc-11.4" -> "11".
std::string major_of(std::string_view compiler) {
    return text::split(compiler.substr(4), '.').front();
}

std::string named(const Row& row) {
    std::string out;
    for (const auto major : row.list("gccs"))
        out += fmt::format("{}gcc-{}", out.empty() ? "" : ", ", major);
    return out;
}

}  // namespace

int default_gcc(const Facts& facts, const std::optional<Row>& os, const std::optional<lookup::Cuda>& cuda) {
    const int own = os ? number(os->text("gcc")) : 0;
    if (!cuda || !cuda->toolkit || !cuda->toolkit->has("gcc_max")) return own;
    const int newest = number(cuda->toolkit->text("gcc_max"));
    const auto row = os ? in_archive(facts, os->text("os")) : std::nullopt;
    if (own <= newest || !row) return std::min(own, newest);
    int best = 0;
    for (const auto major : row->list("gccs")) {
        if (number(major) <= newest) best = std::max(best, number(major));
    }
    return best;
}

bool has_compiler(const Request& request, const Row& os) {
    const auto wanted = request.text(Field::compiler);
    const auto row = in_archive(request.facts, os.text("os"));
    return !wanted.starts_with("gcc-") ||
           (row ? holds(row->list("gccs"), major_of(wanted)) : os.text("gcc") == major_of(wanted));
}

std::string find_compiler(Request& request) {
    auto& image = request.image;
    const auto wanted = request.text(Field::compiler);
    if (!wanted.empty() && !wanted.starts_with("gcc-"))
        return fmt::format("compiler {}: family {} compiles with gcc", wanted, image.family);
    const int fits = default_gcc(request.facts, request.os, request.cuda);
    const auto major = wanted.empty() ? std::to_string(fits) : major_of(wanted);
    if (image.package_manager == "dnf") {
        const auto own = request.os->text("gcc");
        if (major != own) return fmt::format("compiler gcc-{}: {} has gcc {}", major, image.os, own);
        image.compiler = "g++";
        return {};
    }
    const auto row = in_archive(request.facts, image.os);
    if (wanted.empty() && fits == 0) {
        if (!row) return fmt::format("os {}: no fact knows its compiler", image.os);
        return fmt::format("os {}: its archive has {}, and nvcc of CUDA {} takes gcc {} at most", image.os,
                           named(*row), image.cuda, request.cuda->toolkit->text("gcc_max"));
    }
    if (row && !holds(row->list("gccs"), major)) {
        return fmt::format("compiler gcc-{}: the archive of {} has {}", major, image.os, named(*row));
    }
    image.compiler = "g++-" + major;
    return {};
}

}  // namespace cudamatrix::family
