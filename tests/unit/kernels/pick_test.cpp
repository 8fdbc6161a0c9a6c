#include <doctest/doctest.h>

#include "kernels/runner/runner.hpp"

using cudamatrix::suite::picked;
using Args = std::vector<std::string>;

TEST_CASE("the command in a place is picked") {
    std::string error;
    const Args commands{"0", "run", "--cell", "a", "--", "list", "--", "run", "--cell", "c"};
    auto at = [&](const char* place) {
        auto args = commands;
        args.front() = place;
        return picked(args, error);
    };
    CHECK(at("0") == Args{"run", "--cell", "a"});
    CHECK(at("1") == Args{"list"});
    CHECK(at("2") == Args{"run", "--cell", "c"});
    CHECK(picked({"0"}, error) == Args{});
    CHECK(picked({"1", "run", "--"}, error) == Args{});
}

TEST_CASE("what is no place is refused") {
    std::string error;
    for (const auto* place :
         {"", "-1", "+0", "1 ", " 1", "a", "0x1", "1.0", "1000000", "18446744073709551616"}) {
        CHECK_FALSE(picked({place, "run"}, error));
        CHECK(error == "pick takes a number and commands between '--'");
    }
    CHECK_FALSE(picked({}, error));
    CHECK(error == "pick takes a number and commands between '--'");
    CHECK_FALSE(picked({"1", "run"}, error));
    CHECK(error == "pick 1: there are 1 commands, counted from 0");
    CHECK_FALSE(picked({"3", "run", "--", "list"}, error));
    CHECK(error == "pick 3: there are 2 commands, counted from 0");
}
