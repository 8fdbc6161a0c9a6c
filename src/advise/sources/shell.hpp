// The commands of a shell script, one after the other, with what is known of the variables at each (private
// to advise/sources). No shell is emulated: what hangs on the outcome of a program is "maybe".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advise/sources/text.hpp"

namespace cudamatrix::sources {

struct Redirect {
    std::string file;
    Location where;
    bool output = false;    ///< > or >>
    bool attached = false;  ///< nothing stands between it and the word before: torch>=2.3
};

struct Command {
    std::vector<Word> words;
    std::vector<Variable> assignments;  ///< in front of the words; without words: of the shell
    std::vector<Redirect> redirects;
    std::vector<std::size_t> redirected_after;  ///< for each redirect: how many words stood before it
    std::string pipe_from;                      ///< the program whose output it reads; empty: none
    bool maybe = false;                         ///< it hangs on something that nobody knows whether it runs
};

/// NAME=VALUE of `export`, and the assignments of a command without words: what the shell knows from then on.
[[nodiscard]] std::vector<Variable> assigned(const Command& command);

/// The script of `sh -c SCRIPT`; nullptr: the words are something else.
[[nodiscard]] const Word* script_of(const std::vector<Word>& words);
/// sh, bash and the like.
[[nodiscard]] bool is_shell(std::string_view program);

/// Calls `run` for each command that may run. `lookup` is asked when the command is reached, so that `run`
/// may change what it says.
void each_command(const Script& script, const FileText& file, const Lookup& lookup,
                  const std::function<void(const Command&)>& run);

}  // namespace cudamatrix::sources
