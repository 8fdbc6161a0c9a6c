// package-supports-torch.
#include <doctest/doctest.h>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "package-supports-torch";

Words with(const std::string& torch, const std::string& transformers) {
    return {{Field::torch, torch}, {Field::packages, "transformers=" + transformers}};
}

}  // namespace

TEST_CASE("package-supports-torch rejects a torch that transformers turns its back on") {
    CHECK(message_of(kRule, with("2.0.1", "4.53.0")) ==
          "transformers 4.53.0 works with torch 2.1 and newer; the cell has torch 2.0.1+cu117: it logs "
          "\"Disabling "
          "PyTorch because PyTorch >= 2.1 is required\", after which every model class says that it requires "
          "PyTorch");
    CHECK(verdict_of(kRule, with("2.0.1", "4.50.3")) == Verdict::rejected);
    CHECK(verdict_of(kRule, with("2.1.0", "5.0.0")) == Verdict::rejected);
    CHECK(verdict_of(kRule, with("2.3.0", "5.1.0")) == Verdict::rejected);
    CHECK(fix_of(kRule, with("2.3.0", "5.1.0")).starts_with("torch 2.4.0"));
}

TEST_CASE("package-supports-torch: libraries that were compiled against one torch") {
    const auto words = [](const std::string& torch, const std::string& packages) {
        return Words{{Field::torch, torch}, {Field::packages, packages}};
    };
    CHECK(message_of(kRule, words("2.4.0", "torchtext=0.18.0")) ==
          "torchtext 0.18.0 works with torch 2.3 and newer, below 2.4; the cell has torch 2.4.0+cu121: its "
          "import fails: \"libtorchtext.so: undefined symbol: _ZN5torch3jit17parseSchemaOrNameERKSs\"");
    for (const std::string torch : {"2.8.0", "2.10.0", "2.12.0"})
        CHECK(verdict_of(kRule, words(torch, "torchcodec=0.8.1")) == Verdict::rejected);
    CHECK(verdict_of(kRule, words("2.7.1", "torchcodec=0.2.1")) == Verdict::rejected);
    CHECK(verdict_of(kRule, words("2.9.1", "torchcodec=0.8.1")) == Verdict::accepted);
    CHECK(verdict_of(kRule, words("2.9.0", "torchcodec=0.9.1")) == Verdict::accepted);
    CHECK(verdict_of(kRule, words("2.12.0", "torchcodec=0.12.0")) == Verdict::accepted);
    CHECK(verdict_of(kRule, words("2.14.0", "torchcodec=0.16.0")) == Verdict::accepted);  // no row
    CHECK(verdict_of(kRule, words("2.3.1", "torchtext=0.18.0")) == Verdict::accepted);
}

TEST_CASE("package-supports-torch: a wheel for one torch that was compiled before that torch was released") {
    const auto words = [](const std::string& torch, const std::string& version) {
        return Words{{Field::torch, torch}, {Field::packages, "flash-attn=" + version}};
    };
    CHECK(message_of(kRule, words("2.3.0", "2.5.7")) ==
          "flash-attn 2.5.7 works with torch 1.12 and newer, below 2.3; the cell has torch 2.3.0+cu121: for "
          "torch 2.3 its setup.py takes the makers' wheel, which was compiled with a nightly build before "
          "that release: import flash_attn ends with \"undefined symbol: _ZN3c104cuda9SetDeviceEi\"");
    CHECK(verdict_of(kRule, words("2.3.1", "2.5.1")) == Verdict::rejected);
    CHECK(verdict_of(kRule, words("2.3.0", "2.5.8")) == Verdict::accepted);
    CHECK(verdict_of(kRule, words("2.3.0", "2.5.0")) == Verdict::accepted);  // no wheel for torch 2.3
    CHECK(verdict_of(kRule, words("2.2.2", "2.5.7")) == Verdict::accepted);
    CHECK(verdict_of(kRule, words("2.4.0", "2.5.7")) == Verdict::accepted);  // built from its source
}

TEST_CASE("package-supports-torch accepts newer ones, and warns where nothing but the extra asks") {
    CHECK(verdict_of(kRule, with("2.1.0", "4.57.0")) == Verdict::degraded);
    CHECK(verdict_of(kRule, with("1.13.1", "4.49.0")) == Verdict::degraded);
    CHECK(verdict_of(kRule, with("2.0.1", "4.49.0")) == Verdict::accepted);
    CHECK(verdict_of(kRule, with("2.1.0", "4.53.0")) == Verdict::accepted);
    CHECK(verdict_of(kRule, with("2.2.0", "4.57.0")) == Verdict::accepted);
    CHECK(verdict_of(kRule, with("2.4.0", "5.1.0")) == Verdict::accepted);
    CHECK(verdict_of(kRule, with("1.13.1", "4.27.4")) == Verdict::accepted);
    CHECK(verdict_of(kRule, with("none", "5.1.0")) == Verdict::accepted);
    CHECK(verdict_of(kRule, {{Field::torch, "2.0.1"}, {Field::packages, "timm=0.6.13"}}) ==
          Verdict::accepted);
}

TEST_CASE("package-supports-torch leaves an unverified floor open") {
    const auto facts =
        with_rows("package_torch_floors",
                  {"id: package-torch-timm, package: timm, versions: \">=0.6\", torch_min: \"1.7\", "
                   "severity: error, consequence: its import fails, confidence: unverified"});
    CHECK(verdict_of(kRule, {{Field::torch, "1.6.0"}, {Field::packages, "timm=0.6.13"}}, facts) ==
          Verdict::unknown);
}
