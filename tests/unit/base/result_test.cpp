#include "base/result.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace cudamatrix;

namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return input_failure("odd");
    return number / 2;
}

Status is_even(int number) {
    CM_TRY(half(number));
    return Done{};
}

Result<std::string> quarter(int number) {
    CM_TRY_ASSIGN(const auto once, half(number));
    int twice = 0;
    CM_TRY_ASSIGN(twice, half(once));
    return std::to_string(twice);
}

Result<int> of_owner(Result<std::unique_ptr<int>> owner) {
    CM_TRY_ASSIGN(const auto number, std::move(owner));
    return *number;
}

}  // namespace

TEST_CASE("result: a failure leaves the function, whatever that returns") {
    CHECK(is_even(2).ok());
    REQUIRE_FALSE(is_even(3).ok());
    CHECK(is_even(3).failure().code == ExitCode::bad_input);
    CHECK(is_even(3).failure().diagnostics.front().message == "odd");
}

TEST_CASE("result: a value is assigned or moved into a new variable") {
    CHECK(*quarter(12) == "3");
    CHECK_FALSE(quarter(6).ok());
    CHECK_FALSE(quarter(3).ok());
    CHECK(*of_owner(std::make_unique<int>(7)) == 7);
    CHECK_FALSE(of_owner(environment_failure("none")).ok());
}
