#!/bin/sh
# A UCI engine for positions in which d5c7 can be played. A test links to it from a folder of its own: there it notes each
# start in `starts`, and answers a search once there is a file `cue`, or never if the program that asked is gone.
folder=$(dirname "$0")
echo start >> "$folder/starts"
while read -r line; do
    case "$line" in
        uci) echo id name Fake; echo uciok ;;
        isready) echo readyok ;;
        go*)
            while ! [ -e "$folder/cue" ]; do
                kill -0 "$PPID" 2> /dev/null || exit
                sleep 0.05
            done
            echo info depth 1 score cp 7 nodes 5 pv d5c7
            echo bestmove d5c7
            ;;
        quit) exit ;;
    esac
done
