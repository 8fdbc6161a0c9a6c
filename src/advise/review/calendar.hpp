// What the values of a matrix have before them: newer ones that are out, and the days on which they end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::review {

/// What a day does. `end`: of life, of all support; `standard_end`: long-term support follows, which is paid
/// or voluntary; `superseded`: NVIDIA moved the image to end-of-life; `deletion`: it may delete the image
/// from then on; `waiver_end`: the last day on which the waiver holds; `release`: it came out.
enum class EventKind : std::uint8_t { release, superseded, standard_end, end, deletion, waiver_end };
[[nodiscard]] std::string_view to_string(EventKind kind);

struct Event {
    std::string day;  ///< YYYY-MM-DD, or YYYY-MM for the last day of the month
    EventKind kind = EventKind::end;
    std::string subject;               ///< "driver branch 535", "image nvidia/cuda:12.6.0-..", a rule's id
    std::uint64_t cells = 0;           ///< that have it
    std::optional<FactRef> fact = {};  ///< nothing: the matrix file says so
};

/// Whether the day of the event is over on `day` (YYYY-MM-DD).
[[nodiscard]] bool is_past(const Event& event, std::string_view day);

/// A value of a field, or an image that a family stands for.
struct ValueInUse {
    Field field = Field::driver;
    std::string value;
    std::uint64_t cells = 0;
    std::string released;        ///< YYYY-MM-DD or YYYY-MM; empty: no fact names the day
    std::string newest_on_line;  ///< out by the day of the review; empty: the value is that
    std::string newest;          ///< likewise, beyond its line
    std::vector<Event> events;   ///< in the order of their days; none: no fact names an end
    std::optional<FactRef> fact = {};
};

/// Of driver, CUDA, torch, image, python, system and container toolkit, each value once, in the order of the
/// cells.
[[nodiscard]] std::vector<ValueInUse> values_in_use(const Judgement& judgement, const Facts& facts,
                                                    std::string_view today);

/// The ends of the values, of waivers too, by their days: those that are over, and those up to and on
/// `horizon`.
[[nodiscard]] std::vector<Event> calendar(const std::vector<ValueInUse>& values, const Matrix& matrix,
                                          const Judgement& judgement, std::string_view horizon);

/// What came out and what ended behind `since`, up to and on `today`, of the kinds of things that the matrix
/// has: every release of torch, CUDA, python, a driver branch or the distributions in use, and the ends of
/// `values`.
[[nodiscard]] std::vector<Event> events_between(const std::vector<ValueInUse>& values, const Facts& facts,
                                                std::string_view since, std::string_view today);

/// An image that NVIDIA may delete, and from when on.
struct ImageToCopy {
    std::string reference;
    std::string deletable;  ///< YYYY-MM-DD
    std::uint64_t cells = 0;
};
[[nodiscard]] std::vector<ImageToCopy> images_to_copy(const std::vector<ValueInUse>& values);

}  // namespace cudamatrix::review
