// PEP 440 as the `packaging` library of the Python index reads it: the answers in these tables are its
// answers (release 26.3), and 28,000 random pairs were compared with it when the reader was written.
#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "knowledge/facts/pep440.hpp"

using namespace cudamatrix;

TEST_CASE("pep440: versions in their order") {
    const std::vector<std::string_view> ascending{"1.0.dev1",       "1.0a1.dev1", "1.0a1",
                                                  "1.0a1.post1",    "1.0b2",      "1.0rc1.dev3",
                                                  "1.0rc1",         "1.0",        "1.0+abc",
                                                  "1.0+abc.1",      "1.0+cu118",  "1.0+1",
                                                  "1.0.post1.dev2", "1.0.post1",  "1.0.post1+cu118",
                                                  "1.0.1",          "1.1.dev0",   "1.1",
                                                  "1.10",           "2.0",        "1!0.1"};
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        for (std::size_t j = 0; j < ascending.size(); ++j) {
            CAPTURE(ascending[i]);
            CAPTURE(ascending[j]);
            const auto a = pep440::Version::parse(ascending[i]), b = pep440::Version::parse(ascending[j]);
            REQUIRE((a && b));
            CHECK((*a < *b) == (i < j));
            CHECK((*a == *b) == (i == j));
        }
    }
}

TEST_CASE("pep440: what a specifier admits") {
    struct Case {
        std::string_view version, specifier;
        bool admits;
    };
    const std::vector<Case> cases{
        {"2.0", "==2.0.0", true},
        {"2.0+cu124", "==2.0", true},
        {"2.0", "==2.0+cu124", false},
        {"2.0+cu118", "==2.0+cu124", false},
        {"2.0+CU124", "==2.0+cu124", true},
        {"2.0.0", "!=2.0", false},
        {"2.0+cu1", "!=2.0", false},
        {"4.27.4", "==4.27.*", true},
        {"4.27", "==4.27.*", true},
        {"4.2.7", "==4.27.*", false},
        {"4.27rc1", "==4.27.*", true},
        {"4.27.post1", "==4.27.*", true},
        {"5", "==5.0.*", true},
        {"1!4.27", "==4.27.*", false},
        {"4.27.1", "!=4.27.*", false},
        {"2.0rc1", "<2.0", false},
        {"2.0rc1", "<2.0rc2", true},
        {"2.0.dev1", "<2.0", false},
        {"1.9", "<2.0", true},
        {"2.0rc1", "<=2.0", true},
        {"2.0.post1", ">2.0", false},
        {"2.0.post2", ">2.0.post1", true},
        {"2.0+cu124", ">2.0", false},
        {"2.0.1", ">2.0", true},
        {"2.0+cu124", "<=2.0", true},
        {"2.0+cu124", ">=2.0", true},
        {"2.8.0a0", ">=2.8", false},
        {"2.8.0.post1", ">=2.8", true},
        {"2.2", "~=2.2", true},
        {"2.9", "~=2.2", true},
        {"3.0", "~=2.2", false},
        {"2.2.9", "~=2.2.1", true},
        {"2.3", "~=2.2.1", false},
        {"2.2", "~=2.2.1", false},
        {"2.2.post2", "~=2.2.post3", false},
        {"2.9", "~=2.2.post3", true},
        {"3.9.1", "~=3.9.0", true},
        {"1.0", "===1.0", true},
        {"1.0.0", "===1.0", false},
        {"1.0+Local", "===1.0+local", true},
        {"0.0.28.post1", "==0.0.28", false},
        {"0.0.28.post1", ">=0.0.28,<0.0.29", true},
        {"0.13.4", ">=0.11.1,!=0.11.3,<0.14", true},
        {"0.11.3", ">=0.11.1,!=0.11.3,<0.14", false},
        {"v1.0-alpha", "==1.0a0", true},
        {"1.0-1", "==1.0.post1", true},
        {"1.0.r2", "==1.0.post2", true},
        {"1.0c1", "==1.0rc1", true},
        {"01.02", "==1.2", true},
        {"3.14.1", ">=3.10,!=3.14.1", false},
        {"3.9.99", ">=3.8,<3.10", true},
        {"2024.5.0", "<=2023.10.0,>=2023.1.0", false},
        {"1.0", "", true},
        {"1!1.0", ">=2.0", true},
        {"13.0.88", "==13.0.88.*", true},
        {"13.0.8", "==13.0.88.*", false},
        {"8.9.2.26", "==8.9.2.26", true},
    };
    for (const auto& each : cases) {
        CAPTURE(each.version);
        CAPTURE(each.specifier);
        const auto parsed = pep440::Version::parse(each.version);
        const auto clauses = pep440::Specifiers::parse(each.specifier);
        REQUIRE((parsed && clauses));
        CHECK(clauses->admits(*parsed) == each.admits);
    }
}

TEST_CASE("pep440: specifiers that leave nothing in common") {
    struct Case {
        std::string_view one, other;
        bool excludes;
    };
    const std::vector<Case> cases{
        {">=0.11.1,!=0.11.3,<0.14", ">=0.19.1", true},
        {"==2.4.1", "==2.4.0", true},
        {"==2.4.1", ">=2.4", false},
        {"<2", ">=2", true},
        {"<=2", ">=2", false},
        {"==1.2.*", "==1.3.*", true},
        {"==1.2.*", ">1.2.5", false},
        {">1.2", "<1.2.1", false},
        {"~=2.2", "<2.5", false},
        {"!=2.0,>=2.0,<2.0.1", "==2.0", true},
        {">=2.0,!=2.0.*,<3", ">=1.9", false},
        {"", "==1.0", false},
        {"===1.0", "==1.0.0", false},
        {"===1.0", "==1.1", true},
        {">2", "<2", true},
    };
    for (const auto& each : cases) {
        CAPTURE(each.one);
        CAPTURE(each.other);
        const auto a = pep440::Specifiers::parse(each.one), b = pep440::Specifiers::parse(each.other);
        REQUIRE((a && b));
        CHECK(a->excludes(*b) == each.excludes);
        CHECK(b->excludes(*a) == each.excludes);
    }
}

TEST_CASE("pep440: what is no version and no specifier") {
    for (const std::string_view text :
         {"", "x", "1.", "1..2", "1.0+", "1.0+a..b", "1.0+a-", "1.0 1", "1!", "1.0.x", "1.0-x",
          "99999999999999999999", "1.99999999999999999999", "99999999999999999999!1",
          "1!99999999999999999999", "1.0+99999999999999999999"})
        CHECK_MESSAGE(!pep440::Version::parse(text), text);
    for (const std::string_view text : {"1.0", "=1.0", "==", ">=1.0.*", "~=1", "==1.0a1.*", ">=1.0+cu118",
                                        "~=1.0+x", "===", "===a b", "==x", ">=1,x"})
        CHECK_MESSAGE(!pep440::Specifiers::parse(text), text);
    CHECK(pep440::Version::parse(" 1.0 ")->text() == "1.0");
    CHECK(pep440::Version::parse("1.0.post1+cu118")->without_local().text() == "1.0.post1");
    CHECK(pep440::Version::parse("1.0")->without_local().text() == "1.0");
    CHECK(pep440::Version::parse("1.0.dev1")->is_prerelease());
    CHECK(pep440::Version::parse("1.0.post1")->is_postrelease());
    CHECK(pep440::Version::parse("3.12")->part(1) == 12);
    CHECK(pep440::Version::parse("3.12")->part(7) == 0);
    CHECK(pep440::canonical_name("Huggingface_.Hub") == "huggingface-hub");
}
