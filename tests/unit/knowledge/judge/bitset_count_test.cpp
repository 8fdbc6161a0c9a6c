// Diagrams and the counting over them, against every position of small products.
#include "knowledge/judge/count/count.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "base/text.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using Code = Diagrams::Code;
using Ref = Diagrams::Ref;
using Rows = std::vector<std::size_t>;

template <class Visit>
void for_each_position(const Rows& sizes, const Visit& visit) {
    Rows rows(sizes.size(), 0);
    while (true) {
        visit(rows);
        std::size_t axis = sizes.size();
        while (axis > 0 && ++rows[axis - 1] == sizes[axis - 1])
            rows[--axis] = 0;
        if (axis == 0) return;
    }
}

Code value(const Diagrams& diagrams, Ref diagram, const Rows& rows) {
    while (!Diagrams::is_constant(diagram))
        diagram = diagrams.row(diagram, rows[diagrams.axis(diagram)]);
    return static_cast<Code>(diagram);
}

bool asks_in_order(const Diagrams& diagrams, Ref diagram, std::size_t from = 0) {
    if (Diagrams::is_constant(diagram)) return true;
    const auto& order = diagrams.order();
    const auto axis = diagrams.axis(diagram);
    const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), axis) - order.begin());
    if (at < from) return false;
    for (std::size_t row = 0; row < diagrams.sizes()[axis]; ++row) {
        if (!asks_in_order(diagrams, diagrams.row(diagram, row), at + 1)) return false;
    }
    return true;
}

class Random {
  public:
    explicit Random(unsigned seed) : generator_(seed) {}

    std::size_t below(std::size_t end) { return generator_() % end; }

    Rows sizes() {
        Rows out(1 + below(5));
        for (auto& size : out)
            size = 1 + below(5);
        return out;
    }

    // Asks for axes in any order, on each way down in another.
    Ref diagram(Diagrams& diagrams, std::vector<std::size_t> axes, Code flags) {
        if (axes.empty() || below(5) == 0) return static_cast<Ref>(below(3) == 0 ? generator_() & flags : 0);
        const auto at = below(axes.size());
        const auto axis = axes[at];
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(at));
        std::vector<Ref> rows(diagrams.sizes()[axis]);
        for (auto& row : rows)
            row = diagram(diagrams, axes, flags);
        return diagrams.branch(axis, rows);
    }

    std::vector<std::size_t> shuffled(std::size_t count) {
        std::vector<std::size_t> out(count);
        std::iota(out.begin(), out.end(), std::size_t{0});
        std::shuffle(out.begin(), out.end(), generator_);
        return out;
    }

  private:
    std::mt19937 generator_;
};

}  // namespace

TEST_CASE("diagrams: equal ones exist once, and an axis that changes nothing is not asked for") {
    Diagrams diagrams({2, 3});
    const auto a = diagrams.branch(1, std::vector<Ref>{1, 2, 1});
    CHECK(diagrams.branch(1, std::vector<Ref>{1, 2, 1}) == a);
    CHECK(diagrams.branch(1, std::vector<Ref>{1, 1, 2}) != a);
    CHECK(diagrams.branch(0, std::vector<Ref>{a, a}) == a);
    CHECK(diagrams.branch(0, std::vector<Ref>{7, 7}) == 7);
    CHECK(diagrams.support(a) == 2);
    CHECK(diagrams.flags(a) == 3);
    CHECK(diagrams.support(5) == 0);
    CHECK(diagrams.flags(5) == 5);
    CHECK(diagrams.count() == 2);
    CHECK(diagrams.map(a, [](Code) { return Code{4}; }) == 4);
    CHECK(diagrams.either(a, 0) == a);
    CHECK(diagrams.either(0, a) == a);
    CHECK(diagrams.either(a, 3) == 3);
}

TEST_CASE("diagrams: another order and combinations are the same functions") {
    Random random(1);
    for (int round = 0; round < 100; ++round) {
        const auto sizes = random.sizes();
        Diagrams diagrams(sizes);
        const auto all = random.shuffled(sizes.size());
        const auto a = random.diagram(diagrams, all, 0xFF), b = random.diagram(diagrams, all, 0xFF);
        diagrams.set_order(random.shuffled(sizes.size()));
        const auto x = diagrams.ordered(a), y = diagrams.ordered(b);
        REQUIRE(asks_in_order(diagrams, x));
        REQUIRE(diagrams.ordered(x) == x);
        const auto both =
            diagrams.combine(x, y, [](Code p, Code q) { return static_cast<Code>(p ^ (q >> 1u)); });
        const auto any = diagrams.either(x, y);
        const auto less = diagrams.map(x, [](Code p) { return static_cast<Code>(p & 0x55u); });
        REQUIRE(asks_in_order(diagrams, both));
        REQUIRE(asks_in_order(diagrams, any));
        for_each_position(sizes, [&](const Rows& rows) {
            const auto p = value(diagrams, a, rows), q = value(diagrams, b, rows);
            REQUIRE(value(diagrams, x, rows) == p);
            REQUIRE(value(diagrams, both, rows) == (p ^ (q >> 1u)));
            REQUIRE(value(diagrams, any, rows) == (p | q));
            REQUIRE(value(diagrams, less, rows) == (p & 0x55u));
        });
    }
}

TEST_CASE("planes: the count of every flag, whatever fits into a block") {
    Random random(2);
    std::size_t dead = 0, cells = 0;
    for (int round = 0; round < 200; ++round) {
        const auto sizes = random.sizes();
        Diagrams diagrams(sizes);
        diagrams.set_order(random.shuffled(sizes.size()));
        std::vector<Ref> layers(random.below(6));
        for (auto& layer : layers)
            layer = diagrams.ordered(random.diagram(diagrams, random.shuffled(sizes.size()), 0xFF));
        BitsetCounts expected;
        for_each_position(sizes, [&](const Rows& rows) {
            ++cells;
            Code code = 0;
            for (const auto layer : layers)
                code |= value(diagrams, layer, rows);
            if ((code & kDead) != 0) {
                ++dead;
                return;
            }
            ++expected.alive;
            for (std::size_t flag = 0; flag < 8; ++flag)
                expected.flag[flag] += code >> flag & 1u;
        });
        for (const std::uint64_t block : {1u, 2u, 6u, 64u, 100u, 1u << 14u}) {
            CAPTURE(block);
            const auto found = bitset_count(diagrams, layers, block);
            REQUIRE(found.alive == expected.alive);
            REQUIRE(found.flag == expected.flag);
        }
    }
    CHECK(dead > 1000);
    CHECK(cells - dead > 1000);
}

TEST_CASE("planes: axes that no layer asks for are a factor, beyond 32 bits too") {
    Diagrams diagrams(Rows(19, 10));  // 10^19 cells
    std::vector<Ref> odd;
    for (Ref row = 0; row < 10; ++row)
        odd.push_back(row % 2 == 0 ? 0 : 2);
    const auto layer = diagrams.branch(18, odd);
    const auto found = bitset_count(diagrams, {layer});
    CHECK(found.alive == 10'000'000'000'000'000'000u);
    CHECK(found.flag[1] == 5'000'000'000'000'000'000u);
    CHECK(bitset_count(diagrams, {}).alive == 10'000'000'000'000'000'000u);
    CHECK(bitset_count(diagrams, {1}).alive == 0);
    CHECK(bitset_count(diagrams, {layer, 1}).flag[1] == 0);
    CHECK(bitset_count(diagrams, {layer, 4}).flag[2] == 10'000'000'000'000'000'000u);
    CHECK(bitset_count(Diagrams({}), {6}).flag == std::array<std::uint64_t, 8>{0, 1, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("planes: no two of a hundred rows alike") {
    // x < y over 100 x 100, with a block of 64, of a row and of everything.
    Diagrams diagrams({100, 100});
    std::vector<Ref> rows;
    for (std::size_t x = 0; x < 100; ++x) {
        std::vector<Ref> less;
        for (std::size_t y = 0; y < 100; ++y)
            less.push_back(x < y ? 2 : 0);
        rows.push_back(diagrams.branch(1, less));
    }
    const auto layer = diagrams.branch(0, rows);
    for (const std::uint64_t block : {64u, 100u, 10'000u}) {
        const auto found = bitset_count(diagrams, {layer}, block);
        CHECK(found.alive == 10'000);
        CHECK(found.flag[1] == 4950);
    }
}

TEST_CASE("planes: told to stop amid the walk, it counts no further") {
    // Where x + y + z is a multiple of 20: no two rows of the first two axes go on alike.
    constexpr std::size_t size = 20;
    Diagrams diagrams({size, size, size});
    std::vector<Ref> below(size, 0);
    below[0] = 2;
    for (const std::size_t axis : {2u, 1u, 0u}) {
        std::vector<Ref> here;
        for (std::size_t sum = 0; sum < size; ++sum) {
            std::vector<Ref> rows;
            for (std::size_t row = 0; row < size; ++row)
                rows.push_back(below[(sum + row) % size]);
            here.push_back(diagrams.branch(axis, rows));
        }
        below = std::move(here);
    }
    std::size_t asked = 0;
    bool answer = true;
    const OnProgress on_progress = [&](const JudgingProgress&) {
        ++asked;
        return answer;
    };
    Progress goes_on(on_progress);
    const auto whole = bitset_count(diagrams, {below[0]}, 1, &goes_on);
    CHECK(whole.alive == 8000);
    CHECK(whole.flag[1] == 400);
    CHECK_FALSE(goes_on.stopped());
    CHECK(asked == 1);  // of 1221 steps one asks
    answer = false;
    Progress stops(on_progress);
    const auto part = bitset_count(diagrams, {below[0]}, 1, &stops);
    CHECK(stops.stopped());
    CHECK(part.alive > 0);
    CHECK(part.alive < 8000);
    CHECK(bitset_count(diagrams, {below[0]}, 1, &stops).alive == 0);
    CHECK(asked == 2);
}

TEST_CASE("walking order: the busiest axes in the block, the least busy of the others innermost") {
    CHECK(walking_order({10, 10, 10, 10}, {1, 4, 2, 3}, 100) == std::vector<std::size_t>{2, 0, 1, 3});
    CHECK(walking_order({10, 10}, {1, 1}, 100) == std::vector<std::size_t>{0, 1});
    CHECK(walking_order({1000, 10}, {2, 1}, 100) == std::vector<std::size_t>{0, 1});
    CHECK(walking_order({}, {}).empty());
}
