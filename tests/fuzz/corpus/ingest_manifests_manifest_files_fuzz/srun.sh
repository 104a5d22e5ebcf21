srun --gres=gpu:a100_3g.20gb:2,mps:50 -N 2-4 -t 1-0 --array=0-9:2%3 --mem-per-gpu=4G x
