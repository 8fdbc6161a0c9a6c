#include "report/matrix_reports.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/json.hpp"
#include "report/formats.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

TEST_CASE("templates: the user's are counted, and partials named with who includes them") {
    TemplatesReport report{{}, fixtures::kTool};
    report.templates.push_back(
        {"debian/Dockerfile.mustache", "mine/debian/Dockerfile.mustache", true, false, "", {}});
    report.templates.push_back(
        {"partials/x.mustache", "mine/partials/x.mustache", true, true, "x", {"debian/y"}});
    CHECK(templates_text(report) ==
          "debian       debian/Dockerfile.mustache mine/debian/Dockerfile.mustache\n"
          "-            partials/x.mustache        mine/partials/x.mustache, included by debian/y\n"
          "\n2 templates, 1 overridden, 1 added\n");
    CHECK(template_check_text({report.templates, {}, 1}) ==
          "2 templates, 1 overridden, 1 added, 1 file filled from a sample, 0 mistakes\n");
    CHECK(template_text(report.templates[1]) == "x");
    CHECK((*parse_json(template_json(report.templates[1]), "report"))["included_by"] == Json{"debian/y"});
}

TEST_CASE("lock: changes on a line each, findings in the JSON alone") {
    const std::vector<std::string> changes{"new: a", "moved: b\x1b"};
    const std::vector<Diagnostic> findings{Diagnostic::error("c").with_fix("d")};
    CHECK(locked_text({changes, findings}) == "new: a\nmoved: b?\n");
    const auto json = parse_json(locked_json({changes, findings}), "report");
    REQUIRE(json.ok());
    CHECK((*json)["changes"][0] == "new: a");
    CHECK((*json)["findings"][0]["fix"] == "d");
}

TEST_CASE("formats: one option serves several reports, of which not all have every format") {
    const auto all = names_of(run_formats());
    for (const auto& names :
         {names_of(drift_formats()), names_of(origin_formats()), names_of(rejection_formats())}) {
        CHECK(names.front() == all.front());
        for (const auto& name : names)
            CHECK(std::ranges::count(all, name) == 1);
    }
}
