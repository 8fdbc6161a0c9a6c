#include <doctest/doctest.h>

#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/store.hpp"

using namespace cudamatrix;

TEST_CASE("cuda: releases, minors and majors") {
    const auto facts = Facts::embedded();
    CHECK(lookup::cuda(facts, "12.4.1")->exact.text() == "12.4.1");
    CHECK(lookup::cuda(facts, "12.4.1")->toolkit->id() == "cuda-toolkit-12.4");
    CHECK(lookup::cuda(facts, "12.6")->exact.text() == "12.6.3");
    CHECK(lookup::cuda(facts, "10.2")->exact.text() == "10.2.89");
    CHECK(lookup::cuda(facts, "11")->exact.text() == "11.8.0");
    CHECK(lookup::cuda(facts, "11.8")->release->id() == "cuda-11.8.0");
    CHECK_FALSE(lookup::cuda(facts, "12.7"));
    CHECK_FALSE(lookup::cuda(facts, "12.4.9"));
    CHECK_FALSE(lookup::cuda(facts, "99"));
    CHECK_FALSE(lookup::cuda(facts, "12.4.1-rc"));
    CHECK_FALSE(lookup::cuda(facts, "twelve"));
}

TEST_CASE("driver: releases belong to the branch of their first number") {
    const auto facts = Facts::embedded();
    const auto exact = lookup::driver(facts, "550.54.15");
    CHECK(exact->exact.text() == "550.54.15");
    CHECK(exact->branch->id() == "driver-r550");
    CHECK_FALSE(exact->bare_branch);
    for (const auto* text : {"550", "R550", "r550"}) {
        const auto bare = lookup::driver(facts, text);
        CHECK(bare->bare_branch);
        CHECK(bare->exact.text() == facts.row("driver-r550")->text("newest"));
    }
    CHECK_FALSE(lookup::driver(facts, "999.1")->branch);
    CHECK_FALSE(lookup::driver(facts, "new"));
}

TEST_CASE("gpu: whole names and aliases, never parts") {
    const auto facts = Facts::embedded();
    CHECK(lookup::gpu(facts, "RTX 4090")->text("compute") == "8.9");
    CHECK(lookup::gpu(facts, "nvidia geforce rtx 4090")->text("compute") == "8.9");
    CHECK(lookup::gpu(facts, "rtx4090")->text("compute") == "8.9");
    CHECK(lookup::gpu(facts, "T4")->text("compute") == "7.5");
    CHECK(lookup::gpu(facts, "H200")->text("name") == "H200");
    CHECK(lookup::gpu(facts, "H20")->text("name") == "H20");
    CHECK(lookup::gpu(facts, "Quadro RTX 6000")->text("compute") == "7.5");
    CHECK(lookup::gpu(facts, "RTX PRO 6000 Blackwell")->text("compute") == "12.0");
    CHECK_FALSE(lookup::gpu(facts, "RTX"));
    CHECK_FALSE(lookup::gpu(facts, "4090"));
    CHECK(lookup::gpu_names(facts).size() > 150);
}

TEST_CASE("torch: variants, the default of the index, the newest release of a minor") {
    const auto facts = Facts::embedded();
    const auto exact = lookup::torch(facts, "2.6.0+cu124", "x86_64");
    CHECK(exact->exact.text() == "2.6.0");
    CHECK(exact->variant == "cu124");
    CHECK(exact->index_default);
    CHECK(exact->wheel->id() == "torch-2.6.0+cu124-x86_64");
    // 1.8.2 (long-term support) was never on the default index: a bare minor does not get it.
    CHECK(lookup::torch(facts, "1.8", "x86_64")->exact.text() == "1.8.1");
    CHECK(lookup::torch(facts, "1.8.2", "x86_64")->exact.text() == "1.8.2");
    const auto bare = lookup::torch(facts, "2.6.0", "x86_64");
    CHECK(bare->variant == "cu124");
    CHECK(bare->index_default);
    CHECK(bare->wheel->text("cuda") == "12.4");
    CHECK_FALSE(lookup::torch(facts, "2.6.0+cu118", "x86_64")->index_default);
    CHECK(lookup::torch(facts, "2.4", "x86_64")->exact.text() == "2.4.1");
    CHECK(lookup::torch(facts, "2.6.0", "aarch64")->variant == "cpu");
    CHECK(lookup::torch(facts, "2.12.0", "aarch64")->variant == "cu130");
    const auto never = lookup::torch(facts, "1.12.1+cu118", "x86_64");
    CHECK(never->release);
    CHECK_FALSE(never->wheel);
    CHECK_FALSE(lookup::torch(facts, "9.9.9", "x86_64")->release);
    CHECK_FALSE(lookup::torch(facts, "none", "x86_64"));
}

TEST_CASE("os, python and where a toolkit comes from") {
    const auto facts = Facts::embedded();
    CHECK(lookup::os(facts, "debian12")->text("codename") == "bookworm");
    CHECK_FALSE(lookup::os(facts, "debian99"));
    CHECK(lookup::python(facts, "3.10")->id() == "python-3.10");
    CHECK(lookup::python(facts, "3.12.4")->id() == "python-3.12");
    CHECK(lookup::python(facts, "3.13t")->id() == "python-3.13");
    CHECK_FALSE(lookup::python(facts, "3"));
    CHECK_FALSE(lookup::python(facts, "3.99"));
    const auto source = [&](std::string_view os, std::string_view cuda, std::string_view from) {
        return lookup::toolkit_source(facts, "debian", os, *Version::parse(cuda), from);
    };
    CHECK(source("debian12", "11.8.0", "")->text("cuda_from") == "archive");
    CHECK(source("debian13", "12.4.1", "archive"));
    CHECK_FALSE(source("debian12", "12.4.1", "archive"));
    CHECK_FALSE(source("debian12", "11.8.0", "wheels"));
    CHECK_FALSE(lookup::toolkit_source(facts, "ngc", "debian12", *Version::parse("11.8.0"), ""));
}

TEST_CASE("natural order") {
    CHECK(facts::natural_less("gpu-a16", "gpu-a100"));
    CHECK(facts::natural_less("torch-2.9.0", "torch-2.10.0"));
    CHECK_FALSE(facts::natural_less("torch-2.10.0", "torch-2.9.0"));
    CHECK_FALSE(facts::natural_less("a", "a"));
    CHECK(facts::natural_less("a", "a1"));
    CHECK(facts::natural_less("r7", "r10"));
}
