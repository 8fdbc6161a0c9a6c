// Which images and cells a command attempts, from its options.
#include <utility>

#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "matrix/spelling.hpp"

namespace cudamatrix {

void ChoiceOptions::add(const Arguments& app) {
    app.add_option("--only", only, "Attempt these images only, by their ids (list --images names them)")
        .type_name("IMAGE...");
    app.add_option("--cell", cells,
                   "Attempt this cell only: an id, a pattern (drv470*) or values (cuda=11.8,python=3.13), as "
                   "explain takes it; can be repeated")
        .type_name("CELL")
        .one_value_each();
    app.add_option("--where", where, "Attempt only cells of which this holds, e.g. cuda=12.4.1,driver=<500")
        .type_name("FIELD=VALUE,...");
    app.add_flag("--failed", failed,
                 "Attempt only images whose last run in the output folder failed or did not finish");
    app.add_option("--max-images", max_images, "Refuse to attempt more images than this")
        .type_name("N")
        .between(1, kMostImages);
}

bool ChoiceOptions::is_given() const {
    return !only.empty() || !cells.empty() || !where.empty() || failed || max_images != 0;
}

std::vector<std::string> ChoiceOptions::words() const {
    std::vector<std::string> out;
    const auto add_all = [&](const char* name, const std::vector<std::string>& values) {
        for (const auto& value : values)
            out.insert(out.end(), {name, value});
    };
    add_all("--only", only);
    add_all("--cell", cells);
    if (!where.empty()) out.insert(out.end(), {"--where", where});
    if (failed) out.emplace_back("--failed");
    if (max_images != 0) out.insert(out.end(), {"--max-images", std::to_string(max_images)});
    return out;
}

namespace {

// Its messages say of which option they are.
Failure in_option(std::string_view option, Failure failure) {
    for (auto& diagnostic : failure.diagnostics)
        diagnostic.message = fmt::format("{}: {}", option, diagnostic.message);
    return failure;
}

}  // namespace

Result<Choice> choice_of(const ChoiceOptions& options, const Facts& facts, const World& world) {
    Choice choice;
    choice.images = options.only;
    choice.failed = options.failed;
    choice.most_images = options.max_images;
    const auto spelling = said_spellings(facts, world);
    for (const auto& cell : options.cells) {
        auto pattern =
            CellPattern::parse(cell.find('=') == std::string::npos ? cell : respelled_values(cell, spelling));
        if (!pattern.ok()) return in_option("--cell", std::move(pattern).failure());
        choice.cells.push_back(std::move(pattern).value());
    }
    if (options.where.empty()) return choice;
    auto where = condition_from_text(respelled_values(options.where, spelling));
    if (!where.ok()) return in_option("--where", std::move(where).failure());
    choice.where = std::move(where).value();
    choice.where_text = options.where;
    return choice;
}

}  // namespace cudamatrix
