// Which GPUs the libraries of an image have code for, where somebody read its layers.
#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/image_content.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// One row for each group of libraries that hold the same.
std::vector<Row> libraries_of(const Context& context, const ImageContent& image) {
    std::vector<Row> out;
    for (const auto& row : context.facts.rows("image_libraries")) {
        if (row.text("image") == image.other->text("image") && row.text("arch") == arch_of(context))
            out.push_back(row);
    }
    return out;
}

// What one of the rows names, by capability and each once.
std::string all_of(const std::vector<Row>& rows, std::string_view column) {
    std::vector<std::string_view> out;
    for (const auto& row : rows) {
        for (const auto each : row.list(column)) {
            if (!contains(out, each)) out.push_back(each);
        }
    }
    std::sort(out.begin(), out.end(), [](std::string_view a, std::string_view b) {
        return *fatbin::parse_arch(a) < *fatbin::parse_arch(b);
    });
    return listed(out);
}

std::string code_text(const std::vector<Row>& rows) {
    const auto sass = all_of(rows, "sass"), ptx = all_of(rows, "ptx");
    return fmt::format("{}, {}", sass.empty() ? "there is no SASS" : "the SASS is for " + sass,
                       ptx.empty() ? "and there is no PTX" : "the PTX for " + ptx);
}

// "libcublas.so.12 and 3 more".
std::string names_of(const Row& row) {
    const auto all = row.list("libraries");
    const auto first = all.front();
    const auto name = first.substr(first.rfind('/') + 1);
    return all.size() == 1 ? std::string(name) : fmt::format("{} and {} more", name, all.size() - 1);
}

std::size_t count_of(const std::vector<Row>& rows) {
    std::size_t out = 0;
    for (const auto& row : rows)
        out += row.list("libraries").size();
    return out;
}

void judge_rows(Ask& ask, const ImageContent& image, const Device& gpu, const std::vector<Row>& rows) {
    const auto device = device_arch(gpu.arch);
    const auto lacks = [&](const Row& row) { return !has_code(row, "sass", device); };
    auto facts = image.facts;
    facts.insert(facts.end(), gpu.facts.begin(), gpu.facts.end());
    cite(facts, ask.facts, "policy-sass-same-major");
    if (std::none_of(rows.begin(), rows.end(), lacks)) {
        for (const auto& row : rows)
            facts.push_back(row.ref());
        return ask.accept(std::move(facts));
    }
    if (std::all_of(rows.begin(), rows.end(), lacks)) {
        const auto count = count_of(rows);
        auto answer = ask.reject("{} has no code for {}: in its {} {} with GPU code, {}", image.text,
                                 gpu.text, count, count == 1 ? "library" : "libraries", code_text(rows));
        answer.because(facts);
        for (const auto& row : rows)
            answer.because(row.ref());
        return;
    }
    for (const auto& row : rows) {
        if (!lacks(row)) continue;
        const auto paths = row.list("libraries");
        ask.question({Field::image, gpu.field}, {}, paths.front());
        ask.degrade("{} of {} {} no code for {}: {}; what {} fails there", names_of(row), image.text,
                    paths.size() == 1 ? "has" : "have", gpu.text, code_text({row}),
                    paths.size() == 1 ? "it does" : "they do")
            .because(facts)
            .because(row.ref());
    }
}

}  // namespace

bool layers_read(const Context& context, const ImageContent& image) {
    return image.other && contains(image.other->list("layers"), arch_of(context));
}

void judge_libraries(Ask& ask, const ImageContent& image) {
    const auto gpu = device(ask);
    const bool read = layers_read(ask, image);
    if (const auto* gap = std::get_if<Unresolved>(&gpu)) {
        ask.question({gap->field, Field::image},
                     fmt::format("whether the libraries of {} have code for it", image.text), "libraries");
        if (read) ask.unknown(*gap);
        return;
    }
    const auto& known = std::get<Device>(gpu);
    ask.question({Field::image, known.field},
                 fmt::format("whether the libraries of {} have code for {}", image.text, known.text),
                 "libraries");
    if (read) return judge_rows(ask, image, known, libraries_of(ask, image));
    ask.note(
           "no layer of {} was read for {}: whether its libraries have code for {} was not asked; `cudamatrix check "
           "--look=deep` reads them",
           image.text, arch_of(ask), known.text)
        .because(image.facts);
}

}  // namespace cudamatrix::rules
