// The same data gives the same bytes, whatever the locale of the process is and however often it is asked.
#include <doctest/doctest.h>

#include <clocale>
#include <locale>

#include "report/formats.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

struct OddNumbers : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

class WithOddLocale {
  public:
    WithOddLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new OddNumbers))) {}
    ~WithOddLocale() { std::locale::global(before_); }
    WithOddLocale(const WithOddLocale&) = delete;
    WithOddLocale& operator=(const WithOddLocale&) = delete;

  private:
    std::locale before_;
};

std::string everything() {
    fixtures::Judged data;
    data.judgement.findings[0].cells = 1'234'567;
    data.judgement.findings[0].where.line = 12'345;
    auto run = fixtures::run();
    run.seconds = 12'345.678;
    std::string out;
    for (const auto& format : check_formats()) {
        out += format.write(data.report());
        if (format.write_summary != nullptr) out += format.write_summary(data.report());
    }
    for (const auto& format : list_formats())
        out += format.write(data.report()).value();
    for (const auto& format : run_formats())
        out += format.write(run, {});
    for (const auto& format : facts_formats())
        out += format.write({{}, fixtures::kTool, {}});
    return out;
}

}  // namespace

TEST_CASE("reports: the same bytes 100 times") {
    const auto first = everything();
    CHECK(first.size() > 10'000);
    for (int i = 0; i < 100; ++i)
        REQUIRE(everything() == first);
}

TEST_CASE("reports: the same bytes in another locale") {
    const auto plain = everything();
    const WithOddLocale odd;
    REQUIRE(std::use_facet<std::numpunct<char>>(std::locale()).decimal_point() == ',');
    CHECK(everything() == plain);
}
